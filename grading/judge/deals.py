"""Who had which partitions of a group that its members deal, as Kafka's own topic of groups says.

`__consumer_offsets` holds a record for each deal, and nobody else writes there. All records of a
group lie in one partition, so their order is that of the deals. Numbers have the highest byte
first, text and bytes stand behind their length.

    key     version 2, group
    value   version, protocol type, generation, assignor, leader, its time; then for each member its
            id, static name, client, host, limits of a rebalance and of its silence, and what it
            wanted and what it was given, each in a form of the clients' own
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grading.judge.checks import Unseen

if TYPE_CHECKING:
    from grading.judge.visible import Visible

TOPIC = "__consumer_offsets"
DEALT = 2  # the version of a key of which the value is a deal
STATIC = 3  # the version of such a value from which on members have a static name


@dataclass(frozen=True)
class Dealt:
    """What one member was given: topic -> partitions. `session_ms`: how long it may be silent."""

    client: str
    session_ms: int
    partitions: dict[str, list[int]]


Deal = tuple[Dealt, ...]


def deals(x: Visible, group: str) -> list[Deal]:
    """Those in which members were given something, in their order; ends the check without any."""
    found = []
    for record in x.read(TOPIC, may_be_empty=True):
        try:
            deal = _deal(record.key or b"", record.value or b"", group)
        except (struct.error, UnicodeDecodeError):
            continue  # of another form, which nobody here knows
        if any(member.partitions for member in deal):
            found.append(deal)
    if not found:
        raise Unseen(f"the group {group} never had a member with partitions")
    return found


def _deal(key: bytes, value: bytes, group: str) -> Deal:
    named = _Bytes(key)
    if named.number("h") != DEALT or named.text() != group or not value:
        return ()
    return tuple(_members(_Bytes(value)))


def _members(value: _Bytes) -> Iterator[Dealt]:
    version = value.number("h")
    value.text()  # the kind of protocol
    value.number("i")  # the generation
    value.text()  # the assignor
    value.text()  # the leader
    value.number("q")  # when it became so
    for _ in range(value.number("i")):
        value.text()  # the member's id
        if version >= STATIC:
            value.text()
        client = value.text()
        value.text()  # the host
        value.number("i")  # how long a rebalance may take
        session = value.number("i")
        value.data()  # what it wanted to read
        yield Dealt(client or "", session, _partitions(_Bytes(value.data())))


def _partitions(given: _Bytes) -> dict[str, list[int]]:
    if given.is_empty:
        return {}
    given.number("h")  # the version
    found = {}
    for _ in range(given.number("i")):
        topic = given.text() or ""
        found[topic] = [given.number("i") for _ in range(given.number("i"))]
    return found


class _Bytes:
    """Reads on in bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_empty(self) -> bool:
        return not self._data

    def number(self, kind: str) -> int:
        """A whole number of this kind of `struct`."""
        (found,) = struct.unpack_from(f">{kind}", self._data, self._at)
        self._at += struct.calcsize(kind)
        return int(found)

    def text(self) -> str | None:
        """A text behind its length; None where there is none."""
        length = self.number("h")
        return None if length < 0 else self._taken(length).decode()

    def data(self) -> bytes:
        """Bytes behind their length."""
        return self._taken(max(self.number("i"), 0))

    def _taken(self, length: int) -> bytes:
        if self._at + length > len(self._data):
            raise struct.error("shorter than it says")
        self._at += length
        return self._data[self._at - length : self._at]
