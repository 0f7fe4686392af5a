"""Records that trickle, and how long each of them waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

from kafkalab.wait import wait_until


def each_millisecond(count: int) -> Iterator[int]:
    """The numbers below `count`, one a millisecond. Who comes late to one has the next ones at
    once, until the clock is met again."""
    nobody_sets_it = threading.Event()
    began = time.monotonic()
    for number in range(count):
        early = began + number / 1000 - time.monotonic()
        if early > 0:
            nobody_sets_it.wait(early)
        yield number


def stopwatch(times: list[float]) -> Callable[[object], None]:
    """Runs from now on. Called with a receipt, it adds the milliseconds that have passed."""
    began = time.perf_counter()

    def stop(receipt: object) -> None:
        times.append((time.perf_counter() - began) * 1000)

    return stop


def wait_for_receipts(times: Sequence[float], count: int, timeout: float = 60) -> None:
    """Until `count` stopwatches have stopped. A producer that is closed waits for no linger."""
    wait_until(lambda: len(times) >= count, timeout=timeout, what=f"{count} receipts")
