"""A commit that waits for its turn where five requests are on their way to a broker.

kafka-python 3.0.12 refuses a commit while its connection to the coordinator has as many requests
without an answer as `max_in_flight_requests_per_connection` allows. `commit` tries again;
`commit_async` cannot, and of a quick loop most commits fail. Java's consumer keeps such requests in
the order in which they were made until there is room (`ConsumerNetworkClient.unsent`); so does
this.
"""

from __future__ import annotations

import collections
import contextlib
import functools
from collections.abc import Mapping
from typing import Any

from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.errors import KafkaError
from kafka.future import Future

FULL = "max_in_flight"  # kafka-python's name for the reason


def wait_for_room() -> None:
    """Change ConsumerCoordinator for this process; see `MENDS` for the fault."""
    send = ConsumerCoordinator._send_offset_commit_request

    @functools.wraps(send)
    async def send_in_turn(self: ConsumerCoordinator, offsets: Mapping[Any, Any]) -> Any:
        # All of it runs in the client's one thread, in the order of the calls.
        waiting: collections.deque[Future] = self.__dict__.setdefault(
            "_commits", collections.deque()
        )
        turn = Future()
        waiting.append(turn)
        try:
            if waiting[0] is not turn:
                await turn
            await _room(self)
        finally:
            waiting.remove(turn)
            if waiting:
                # What waits for a future runs in a later round, so this one is sent first.
                waiting[0].success(None)
        return await send(self, offsets)

    ConsumerCoordinator._send_offset_commit_request = send_in_turn


async def _room(coordinator: ConsumerCoordinator) -> None:
    """Until the oldest request was answered, or has failed: then the connection is closed."""
    connections = coordinator._manager._conns
    while (connection := connections.get(coordinator.coordinator())) and FULL in connection.paused:
        if not connection.in_flight_requests:
            return
        _, oldest, *_ = connection.in_flight_requests[0]
        with contextlib.suppress(KafkaError):
            await oldest
