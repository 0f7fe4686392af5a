"""An admin client that asks another broker when the one it asked last is away.

kafka-python 3.0.12 keeps the broker that it calls the controller for good. When that broker is
gone, or was gone when the list of brokers was last fetched, every request to it fails, although
each broker of a KRaft cluster passes such requests on. Java's admin client looks for another one.
"""

from __future__ import annotations

import contextlib
import functools
import time
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


def ask_whoever_is_there() -> None:
    """After some seconds it gives up with the last error.

    A request whose broker goes away before it has answered is sent again, so in rare cases it is
    carried out twice; the second answer then says that the topic exists already, or is gone.
    """
    ask = KafkaAdminClient._send_request_to_controller

    @functools.wraps(ask)
    async def ask_again(self: KafkaAdminClient, *arguments: Any, **settings: Any) -> Any:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return await ask(self, *arguments, **settings)
            except AWAY:
                if time.monotonic() > deadline:
                    raise
            self._controller_id = None
            brokers = self._manager.cluster.request_update()
            with contextlib.suppress(KafkaError):  # the one that was asked is away too
                await self._manager.wait_for(brokers, PATIENCE * 1000)
            await self._net.sleep(PAUSE)

    KafkaAdminClient._send_request_to_controller = ask_again
