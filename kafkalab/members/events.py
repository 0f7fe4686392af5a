"""What members wrote down: lines of JSON, each with the time at which it was written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pandas

NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class Event:
    """`at` is `time.monotonic_ns()`: one clock for all processes of the machine."""

    what: str
    at: int
    facts: dict[str, Any] = field(default_factory=dict)

    def line(self) -> bytes:
        """As it is written down. Members write no name: each has a file of its own."""
        return json.dumps({"what": self.what, "at": self.at, **self.facts}).encode() + b"\n"


def read(written: bytes) -> tuple[list[Event], int]:
    """The events in it, and how many bytes they take.

    A line without its end is no event yet, and never becomes one where its writer was killed.
    """
    whole = written.rfind(b"\n") + 1
    found = []
    for line in written[:whole].splitlines():
        facts = json.loads(line)
        found.append(Event(facts.pop("what"), facts.pop("at"), facts))
    return found, whole


class Witness(Protocol):
    """Whoever has a name and events."""

    @property
    def name(self) -> str: ...

    @property
    def events(self) -> Sequence[Event]: ...


def events_of(members: Iterable[Witness]) -> pandas.DataFrame:
    """All their events in the order of time: `seconds` since the first, `member`, `what`, facts."""
    import pandas

    each = [(event.at, member.name, event) for member in members for event in member.events]
    each.sort(key=lambda one: one[0])
    rows = [
        {
            "seconds": (at - each[0][0]) / NANOSECONDS,
            "member": name,
            "what": event.what,
            **event.facts,
        }
        for at, name, event in each
    ]
    return pandas.DataFrame(rows, columns=None if rows else ["seconds", "member", "what"])
