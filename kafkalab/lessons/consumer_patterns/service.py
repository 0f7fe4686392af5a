"""A slow service, as a bank or a shipper is one: whoever calls it waits for its answer."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord

# Of so many orders one is answered late, and takes so many times as long.
LATE_EVERY = 7
LATE = 6
SILENCE = 60


@dataclass(frozen=True)
class Call:
    """`began` and `ended` are seconds of one clock, `time.monotonic()`."""

    partition: int
    offset: int
    key: bytes | None
    began: float
    ended: float
    thread: str


class CardService:
    """Counts and times its calls. It may be called from several threads at once.

    The same orders are late in each run, whoever calls: those whose offset can be
    divided by seven.
    """

    def __init__(self, seconds: float = 0.01, silent: int | None = None) -> None:
        """silent: the call for this offset gets no answer, for a minute at least."""
        self._seconds = seconds
        self._silent = silent
        self._never = threading.Event()  # waiting for it takes the whole time, and no processor
        self._calls: list[Call] = []

    def call(self, record: ConsumerRecord) -> None:
        """Wait for the answer."""
        late = record.offset % LATE_EVERY == 0
        began = time.monotonic()
        if record.offset == self._silent:
            self._never.wait(SILENCE)
            return
        self._never.wait(self._seconds * (LATE if late else 1))
        ended, thread = time.monotonic(), threading.current_thread().name
        self._calls.append(Call(record.partition, record.offset, record.key, began, ended, thread))

    def call_all(self, records: Iterable[ConsumerRecord]) -> None:
        """One after the other."""
        for record in records:
            self.call(record)

    @property
    def calls(self) -> list[Call]:
        """Those that were answered, in the order of their answers."""
        return list(self._calls)

    def wait_for(self, number: int, timeout: float = 60) -> set[int]:
        """Until so many calls were answered; the offsets of the answered ones."""
        wait_until(
            lambda: len(self._calls) >= number,
            timeout=timeout,
            what=f"{number} answers",
            seen=lambda: len(self._calls),
            every=0.01,
        )
        return {call.offset for call in self.calls}

    @property
    def rate(self) -> float:
        """Orders a second, from the first call to the last answer."""
        calls = self.calls
        return len(calls) / (max(c.ended for c in calls) - min(c.began for c in calls))

    @property
    def busiest(self) -> int:
        """The calls of the thread that made most of them."""
        return max(Counter(call.thread for call in self.calls).values())

    @property
    def overtaken(self) -> int:
        """Orders that were done after a later order of the same customer."""
        return overtaken((call.key, call.offset) for call in self.calls)


def overtaken(done: Iterable[tuple[object, int]]) -> int:
    """How many came after a higher number of their kind; `done` in the order of the end."""
    highest: dict[object, int] = {}
    count = 0
    for kind, number in done:
        if number < highest.get(kind, -1):
            count += 1
        else:
            highest[kind] = number
    return count
