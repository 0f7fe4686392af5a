"""An admin client that asks another broker when the one it asked last is away.

kafka-python 3.0.12 keeps the broker that it calls the controller for good. When that broker is
gone, or was gone when the list of brokers was last fetched, every request to it fails, although
each broker of a KRaft cluster passes such requests on. A request that any broker may answer fails
at once while the client pauses before it connects again; and a client that was told of one broker
alone, as while the others were away, never asks at another address. Java's admin client looks for
another broker, begins anew at the addresses it was given (KIP-899), or waits.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Awaitable, Callable
from typing import Any

from kafka import KafkaAdminClient
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
    UnknownBrokerIdError,
)

AWAY = (KafkaConnectionError, NodeNotReadyError, UnknownBrokerIdError)
# Until a dead broker is fenced, the others may name it once more.
PATIENCE = 10.0
PAUSE = 0.2
FIRST_QUESTION = 2.0


def ask_whoever_is_there() -> None:
    """After some seconds it gives up with the last error.

    A request whose broker goes away before it has answered is sent again, so in rare cases it is
    carried out twice; the second answer then says that the topic exists already, or is gone.
    """
    ask, begin = KafkaAdminClient._send_request_to_controller, KafkaAdminClient.__init__

    @functools.wraps(ask)
    async def ask_again(self: KafkaAdminClient, *arguments: Any, **settings: Any) -> Any:
        return await _patiently(self, lambda: ask(self, *arguments, **settings))

    @functools.wraps(begin)
    def with_any_broker(self: KafkaAdminClient, **settings: Any) -> None:
        begin(self, **settings)
        self._manager = AnyBroker(self)

    KafkaAdminClient._send_request_to_controller = ask_again
    KafkaAdminClient.__init__ = with_any_broker


class AnyBroker:
    """An admin client's connections; what names no broker waits until there is one."""

    def __init__(self, admin: KafkaAdminClient) -> None:
        self._admin = admin
        self._connections = admin._manager

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connections, name)

    def send(self, request: Any, node_id: Any = None, **settings: Any) -> Awaitable[Any]:
        if node_id is not None:
            return self._connections.send(request, node_id, **settings)
        return _patiently(self._admin, lambda: self._connections.send(request, **settings))


async def _patiently(admin: KafkaAdminClient, ask: Callable[[], Awaitable[Any]]) -> Any:
    """The answer, from another broker where the one that was asked is away."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return await ask()
        except AWAY:
            if time.monotonic() > deadline:
                raise
        admin._controller_id = None
        connections = admin._manager
        try:
            await connections.wait_for(connections.cluster.request_update(), PATIENCE * 1000)
        except KafkaError:
            # All that it knows are away. Others may have come to the addresses that it was given.
            with contextlib.suppress(KafkaError):
                again = connections.bootstrap_async(FIRST_QUESTION * 1000)
                await connections.wait_for(again, PATIENCE * 1000)
        await admin._net.sleep(PAUSE)
