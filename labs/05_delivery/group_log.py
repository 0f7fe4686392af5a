"""What a consumer group did, in order, as Kafka's own topic of groups keeps it.

`__consumer_offsets` holds a record for each commit and for each change of the members. All records
of a group lie in one partition, so their order tells what was committed before somebody came. Keys
and values are written in Kafka's own form: numbers with the highest byte first, text behind its
length.

    key     version 0 or 1: a commit for group, topic, partition; version 2: the members of a group
    value   of a commit: version, offset, …; of the members: version, protocol, generation, …
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from grading.judge.checks import Unseen

TOPIC = "__consumer_offsets"
MEMBERS = 2  # the version of a key of which the value is the members of a group
STATIC = 3  # the version of such a value from which on it knows names of static members


@dataclass(frozen=True)
class Membership:
    """`instance` is the name of a static member; None or "" for others."""

    id: str
    instance: str | None
    client: str | None
    session_ms: int


@dataclass(frozen=True)
class Commit:
    """`offset` is None where the position was forgotten."""

    topic: str
    partition: int
    offset: int | None


Event = Commit | tuple[Membership, ...]


@dataclass(frozen=True)
class Return:
    """A member that came when another had been there, and what was committed until then."""

    member: Membership
    former: Membership
    committed: dict[int, int]


def events(x, group: str) -> Iterator[Event]:
    """The commits of a group, and its members as a tuple after each change, in their order."""
    for record in x.read(TOPIC, may_be_empty=True):
        try:
            event = _event(record, group)
        except (struct.error, UnicodeDecodeError):
            continue  # of another form, which nobody here knows
        if event is not None:
            yield event


def came_back(x, group: str, topic: str) -> Return:
    """The last member that joined a group after another one; ends the check where none did."""
    committed: dict[int, int | None] = {}
    came: list[Membership] = []
    found = None
    for event in events(x, group):
        if isinstance(event, Commit):
            if event.topic == topic:
                committed[event.partition] = event.offset
            continue
        for member in event:
            if member.id in {one.id for one in came}:
                continue
            if came:
                known = {n: offset for n, offset in committed.items() if offset is not None}
                found = Return(member, came[-1], known)
            came.append(member)
    if found is None:
        raise Unseen(f"in the group {group} no second consumer has come after a first one")
    return found


def together(x, group: str) -> tuple[Membership, ...]:
    """The members of a group when it had the most of them, the last time."""
    changes = [event for event in events(x, group) if isinstance(event, tuple)]
    found = max(reversed(changes), key=len, default=())
    if not found:
        raise Unseen(f"the group {group} never had a member")
    return found


def _event(record, group: str) -> Event | None:
    key = _Reader(record.key or b"")
    version = key.number("h")
    if key.text() != group:
        return None
    if version == MEMBERS:
        return tuple(_members(_Reader(record.value))) if record.value else ()
    topic, partition = key.text() or "", key.number("i")
    offset = struct.unpack_from(">q", record.value, 2)[0] if record.value else None
    return Commit(topic, partition, offset)


def _members(value: _Reader) -> Iterator[Membership]:
    version = value.number("h")
    value.text()  # the kind of protocol
    value.number("i")  # the generation
    value.text()  # the assignor
    value.text()  # the leader
    value.number("q")  # when it became so
    for _ in range(value.number("i")):
        identity = value.text() or ""
        instance = value.text() if version >= STATIC else None
        client = value.text()
        value.text()  # the host
        value.number("i")  # how long a rebalance may take
        yield Membership(identity, instance, client, value.number("i"))
        for _ in ("what it wanted to read", "what it was given"):
            value.skip()


class _Reader:
    """Reads on in bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, kind: str) -> int:
        """A whole number of this kind of `struct`."""
        found = struct.unpack_from(f">{kind}", self._data, self._at)[0]
        self._at += struct.calcsize(kind)
        return found

    def text(self) -> str | None:
        """A text behind its length; None where there is none."""
        length = self.number("h")
        return None if length < 0 else self._taken(length).decode()

    def skip(self) -> None:
        """Bytes behind their length."""
        self._taken(max(self.number("i"), 0))

    def _taken(self, length: int) -> bytes:
        if self._at + length > len(self._data):
            raise struct.error("shorter than it says")
        self._at += length
        return self._data[self._at - length : self._at]
