"""Records as they lie in the log of a topic. What a student has sent may be anything."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from grading.judge.checks import Unseen

MOST_DIGITS = 18


@dataclass(frozen=True)
class Record:
    """A record as it lies in the log."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    is_dated_by_broker: bool = False
    """Else the timestamp is what the producer wrote there, which may be anything."""

    def text(self) -> str:
        """The value as text; bytes that are no UTF-8 become replacement marks."""
        return (self.value or b"").decode(errors="replace")

    def key_text(self) -> str | None:
        """The key as text."""
        return None if self.key is None else self.key.decode(errors="replace")

    def number(self) -> int | None:
        """The value as a whole number; None where it is none."""
        return whole_number(self.text())

    def header(self, name: str) -> str:
        """A header as text; nothing where there is none."""
        return (dict(self.headers).get(name) or b"").decode(errors="replace")

    def json(self) -> Any:
        """The value as JSON; ends the check where it is none."""
        try:
            return json.loads(self.value or b"")
        except (ValueError, RecursionError):
            raise Unseen(
                f"the record at offset {self.offset} of partition {self.partition} is not JSON: "
                f"{self.text()[:80]!r}"
            ) from None


class Log(list[Record]):
    """The records of a topic, ordered by partition and offset."""

    @property
    def values(self) -> list[str]:
        return [record.text() for record in self]

    @property
    def keys(self) -> list[str | None]:
        return [record.key_text() for record in self]

    @property
    def partitions(self) -> dict[int, Log]:
        """The records of each partition that has any."""
        found: dict[int, Log] = {}
        for record in self:
            found.setdefault(record.partition, Log()).append(record)
        return found

    def duplicates(self, by: Callable[[Record], Hashable] = Record.text) -> list[Hashable]:
        """What is there more than once, in the order of first sight."""
        return [thing for thing, count in Counter(map(by, self)).items() if count > 1]


def whole_number(text: str) -> int | None:
    """A text of digits as a number; None for everything else, also for what no count reaches."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None
