"""Which records the answer to a fetch request brings: the offsets, told by the heads of batches.

A batch comes whole, as it lies in the log, so a client may get offsets below the one it asked for.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from kafkalab.cluster.segments import CONTROL, HEADER
from kafkalab.gateway.framing import LENGTH, UNREADABLE, Request, count, string, tagged

FETCH = 1
FETCH_FROM, FETCH_FLEXIBLE = 4, 12
FETCH_BY_ID = 13
"""From here on a topic is written as its id."""
LOG_START_FROM, SESSION_FROM, REPLICA_FROM = 5, 7, 11
LENGTH_AND_BASE = 12  # bytes of a batch that its length does not count


@dataclass(frozen=True, slots=True)
class Fetched:
    """Records of a partition on their way to a client: offsets `first` to `last`.

    One of `topic` and `topic_id` is None: newer clients name a topic by its id.
    """

    topic: str | None
    topic_id: str | None
    partition: int
    first: int
    last: int


def records(frame: bytes, request: Request) -> list[Fetched]:
    """What a whole frame from a broker brings; nothing where it answers something else."""
    if request.api != FETCH or request.version < FETCH_FROM:
        return []
    try:
        return _records(frame, request.version)
    except (*UNREADABLE, ValueError):  # an id that breaks off
        return []


def _records(frame: bytes, version: int) -> list[Fetched]:
    flexible = version >= FETCH_FLEXIBLE
    place = tagged(frame, 8, flexible)
    place += 4 + 6 * (version >= SESSION_FROM)  # how long it was throttled; error and session
    topics, place = count(frame, place, flexible)
    found = []
    for _ in range(topics):
        topic = topic_id = None
        if version >= FETCH_BY_ID:
            topic_id, place = str(uuid.UUID(bytes=bytes(frame[place : place + 16]))), place + 16
        else:
            topic, place = string(frame, place, flexible)
        partitions, place = count(frame, place, flexible)
        for _ in range(partitions):
            (partition,) = LENGTH.unpack_from(frame, place)
            place += 4 + 2 + 8 + 8 + 8 * (version >= LOG_START_FROM)
            aborted, place = count(frame, place, flexible)
            for _ in range(max(aborted, 0)):
                place = tagged(frame, place + 16, flexible)
            place += 4 * (version >= REPLICA_FROM)
            size, place = count(frame, place, flexible)
            end = place + max(size, 0)
            if offsets := _offsets(frame, place, end):
                found.append(Fetched(topic, topic_id, partition, *offsets))
            place = tagged(frame, end, flexible)
        place = tagged(frame, place, flexible)
    return found


def _offsets(frame: bytes, place: int, end: int) -> tuple[int, int] | None:
    """The first and the last offset of the whole batches here; None where there is none."""
    found: list[int] = []
    while place + HEADER.size <= end:
        base, length, _, _, _, attributes, delta, *_ = HEADER.unpack_from(frame, place)
        place += LENGTH_AND_BASE + length
        if length <= 0 or place > end:
            break  # the broker has cut it off
        if not attributes & CONTROL:
            found += (base, base + delta)
    return (found[0], found[-1]) if found else None
