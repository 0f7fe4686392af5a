"""Ask those brokers of a cluster that may answer.

Each question goes to brokers by name over `wire`. A broker that is down or stands still is passed
over; what cannot be answered yet (no coordinator, leaders on the move) is asked again until the
deadline, which then tells what was last seen.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kafka.errors import NoError, for_code

from kafkalab.cluster import wire
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until

T = TypeVar("T")


class NotYet(CourseError):
    """The cluster cannot answer at the moment."""


class NoTopic(CourseError):
    """The cluster has settled, and has no topic of this name."""


UNSETTLED = (NotYet, wire.NoConnection, OSError, EOFError, struct.error)


class Asking:
    """`addresses` tells at each call which brokers may answer, the likeliest first.

    `timeout` is how many seconds an answer may take while the cluster is not settled.
    """

    def __init__(self, addresses: Callable[[], Mapping[int, str]], timeout: float = 10) -> None:
        self._addresses = addresses
        self._timeout = timeout

    def ask_metadata(self, topics: list[str] | None) -> Any:
        """Brokers and topics as the first broker that answers knows them (None: all topics)."""
        return self._first(lambda address: wire.metadata(address, topics))

    def _any(self, request: Any) -> Any:
        return self._first(lambda address: wire.ask(address, request))

    def _first(self, question: Callable[[str], T]) -> T:
        """The answer of the first broker that gives one."""
        refusal: Exception = NotYet("no broker is running")
        for address in self._addresses().values():
            try:
                return question(address)
            except UNSETTLED as error:
                refusal = error
        raise refusal

    def _settled(self, what: str, read: Callable[[], T]) -> T:
        """`read`, again and again while the cluster is not settled."""
        return wait_until(read, timeout=self._timeout, what=what, not_yet=UNSETTLED)


def accept(code: int, message: str | None = None) -> None:
    """An error of the protocol: one that may pass is asked again, another is said."""
    error = for_code(code)
    if error is NoError:
        return
    text = message or getattr(error, "description", "") or error.__name__
    if getattr(error, "retriable", False):
        raise NotYet(f"{error.__name__}: {text}")
    raise CourseError(f"The broker refused: {error.__name__}.", text)
