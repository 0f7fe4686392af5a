"""What a consumer group did, in order, as Kafka's own topic of groups keeps it.

`__consumer_offsets` holds a record for each commit and for each change of the members. All records
of a group lie in one partition, so their order tells what was committed before somebody came. Keys
and values are written in Kafka's own form: numbers with the highest byte first, text behind its
length. This reads groups of the classic protocol; other groups leave records of other kinds.

    key     version 0 or 1: a commit for group, topic, partition; version 2: the members of a group
    value   of a commit: version, offset, …; of the members: version, protocol, generation, …
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grading.judge.checks import Unseen
from grading.judge.log import Record

if TYPE_CHECKING:
    from grading.judge.visible import Visible

TOPIC = "__consumer_offsets"
COMMITS = (0, 1)  # the versions of a key of which the value is a commit
MEMBERS = 2  # the version of a key of which the value is the members of a group
STATIC = 3  # the version of such a value from which on it knows names of static members
WITH_EPOCH = 3  # the version of a commit from which on it knows the epoch of a leader
COMPACT = 4  # the version of a commit from which on a text has a shorter length before it


@dataclass(frozen=True)
class Membership:
    """`instance` is the name of a static member; None or "" for others."""

    id: str
    instance: str | None
    client: str | None
    session_ms: int
    assignment: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Commit:
    """`offset` is None where the position was forgotten; `at` is when, in the broker's ms."""

    topic: str
    partition: int
    offset: int | None
    metadata: str = ""
    at: int = 0


@dataclass(frozen=True)
class Members:
    """Who belonged to a group from here on; nobody, where it was left by all.

    `at` is when, in the broker's ms: before any member can have heard of it.
    """

    members: tuple[Membership, ...] = ()
    generation: int = 0
    at: int = 0

    def owners(self, topic: str) -> dict[int, str | None]:
        """Partition -> client id of its reader."""
        return {n: m.client for m in self.members for n in m.assignment.get(topic, ())}

    def of(self, client: str) -> Membership | None:
        """The member with this client id."""
        return next((one for one in self.members if one.client == client), None)


Event = Commit | Members


def events(x: Visible, group: str) -> Iterator[Event]:
    """The commits of a group, and its members after each change, in their order."""
    for record in x.read(TOPIC, may_be_empty=True):
        try:
            event = _event(record, group)
        except (struct.error, UnicodeDecodeError):
            continue  # of another form, which nobody here knows
        if event is not None:
            yield event


def is_known(x: Visible, group: str) -> bool:
    """Whether Kafka has ever written anything of a group, of whatever protocol."""
    return any(_group_of(record) == group for record in x.read(TOPIC, may_be_empty=True))


def _group_of(record: Record) -> str | None:
    """Keys of all kinds begin with the name of a group."""
    key = _Reader(record.key or b"")
    try:
        key.number("h")
        return key.text()
    except (struct.error, UnicodeDecodeError):
        return None


def deals(x: Visible, group: str) -> list[Members]:
    """Who belonged to a group each time that its members were given something.

    Ends the check where they never were.
    """
    found = [event for event in events(x, group) if isinstance(event, Members)]
    dealt = [event for event in found if any(one.assignment for one in event.members)]
    if not dealt:
        raise Unseen(f"the group {group} never had a member with partitions")
    return dealt


def _event(record: Record, group: str) -> Event | None:
    key = _Reader(record.key or b"")
    version = key.number("h")
    if key.text() != group:
        return None
    if version == MEMBERS:
        return _members(record) if record.value else Members(at=record.timestamp)
    if version not in COMMITS:
        return None
    topic, partition = key.text() or "", key.number("i")
    if not record.value:
        return Commit(topic, partition, None, at=record.timestamp)
    value = _Reader(record.value)
    version, offset = value.number("h"), value.number("q")
    if offset < 0:
        return None
    if version >= WITH_EPOCH:
        value.number("i")
    metadata = value.text() if version < COMPACT else value.compact()
    # confluent-kafka sends the zero along with which C ends a text.
    return Commit(topic, partition, offset, (metadata or "").rstrip("\0"), record.timestamp)


def _members(record: Record) -> Members:
    value = _Reader(record.value or b"")
    version = value.number("h")
    value.text()  # the kind of protocol
    generation = value.number("i")
    value.text()  # the assignor
    value.text()  # the leader
    value.number("q")  # when it became so
    found = []
    for _ in range(value.number("i")):
        identity = value.text() or ""
        instance = value.text() if version >= STATIC else None
        client = value.text()
        value.text()  # the host
        value.number("i")  # how long a rebalance may take
        session_ms = value.number("i")
        value.chunk()  # what it wanted to read
        given = _assignment(value.chunk())
        found.append(Membership(identity, instance, client, session_ms, given))
    return Members(tuple(found), generation, record.timestamp)


def _assignment(written: bytes) -> dict[str, list[int]]:
    """Topic -> partitions, as an assignor wrote it."""
    if not written:
        return {}
    value = _Reader(written)
    value.number("h")
    found = {}
    for _ in range(value.number("i")):
        topic = value.text() or ""
        found[topic] = [value.number("i") for _ in range(value.number("i"))]
    return found


class _Reader:
    """Reads on in bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, kind: str) -> int:
        """A whole number of this kind of `struct`."""
        found: int = struct.unpack_from(f">{kind}", self._data, self._at)[0]
        self._at += struct.calcsize(kind)
        return found

    def text(self) -> str | None:
        """A text behind its length; None where there is none."""
        length = self.number("h")
        return None if length < 0 else self._taken(length).decode()

    def compact(self) -> str:
        """A text behind one more than its length, in which seven bits of each byte count."""
        length = place = 0
        while True:
            byte = self.number("B")
            length |= (byte & 0x7F) << place
            place += 7
            if byte < 0x80:
                return self._taken(max(length - 1, 0)).decode()

    def chunk(self) -> bytes:
        """Bytes behind their length."""
        return self._taken(max(self.number("i"), 0))

    def _taken(self, length: int) -> bytes:
        if self._at + length > len(self._data):
            raise struct.error("shorter than it says")
        self._at += length
        return self._data[self._at - length : self._at]
