"""An admin client that asks another broker when the one it asked last is away.

kafka-python 3.0.12 keeps the broker that it calls the controller for good. When that broker is
gone, or was gone when the list of brokers was last fetched, every request to it fails, although
each broker of a KRaft cluster passes such requests on. Java's admin client looks for another one.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
    UnknownBrokerIdError,
)

if TYPE_CHECKING:
    from kafka import KafkaAdminClient

AWAY = (KafkaConnectionError, NodeNotReadyError, UnknownBrokerIdError)
# Until a dead broker is fenced, the others may name it once more.
PATIENCE = 10.0
PAUSE = 0.2


def ask_whoever_is_there(admin: KafkaAdminClient) -> None:
    """Arrange it for this admin client; after some seconds it gives up with the last error.

    A request whose broker goes away before it has answered is sent again, so in rare cases it is
    carried out twice; the second answer then says that the topic exists already, or is gone.
    """
    ask = admin._send_request_to_controller

    async def ask_again(*arguments: Any, **settings: Any) -> Any:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return await ask(*arguments, **settings)
            except AWAY:
                if time.monotonic() > deadline:
                    raise
            admin._controller_id = None
            brokers = admin._manager.cluster.request_update()
            with contextlib.suppress(KafkaError):  # the one that was asked is away too
                await admin._manager.wait_for(brokers, PATIENCE * 1000)
            await admin._net.sleep(PAUSE)

    admin._send_request_to_controller = ask_again
