"""A coordinator that is looked for until it is found, or the time is over.

kafka-python 3.0.12 asks for metadata where nobody knows the coordinator of a group. If that goes to
a broker that has just died, the refused connection comes out of `poll` or `commit` as an error, and
the program ends. Java's consumer asks again (`AbstractCoordinator.ensureCoordinatorReady`); so does
this.
"""

from __future__ import annotations

import functools

from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.errors import RetriableError
from kafka.util import Timer


def ask_again() -> None:
    """Change ConsumerCoordinator for this process; see `MENDS` for the fault."""
    look = ConsumerCoordinator.ensure_coordinator_ready_async

    @functools.wraps(look)
    async def ensure_coordinator_ready_async(
        self: ConsumerCoordinator, timeout_ms: float | None = None
    ) -> bool:
        timer = Timer(timeout_ms)
        while True:
            try:
                return await look(self, timer.timeout_ms)
            except RetriableError:
                if timer.expired:
                    return False
                pause = self.config["retry_backoff_ms"]
                if timer.timeout_ms is not None:
                    pause = min(pause, timer.timeout_ms)
                await self._net.sleep(pause / 1000)

    ConsumerCoordinator.ensure_coordinator_ready_async = ensure_coordinator_ready_async
