"""What a produce request carries: the head of each batch of records in it.

The head is where a producer tells who it is and which of its records these are. A broker writes it
to the log as it came, so what is read here is what kafkalab/cluster/segments.py finds on the disk
later.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkalab.cluster.segments import HEADER, TRANSACTIONAL
from kafkalab.gateway.framing import (
    LENGTH,
    PRODUCE,
    PRODUCE_FLEXIBLE,
    PRODUCE_NAMES_TRANSACTION,
    UNREADABLE,
    Request,
    count,
    first_string,
    string,
    tagged,
)

# From here on a topic is written as its id.
PRODUCE_BY_ID = 13
ACKS_AND_TIMEOUT = 6


@dataclass(frozen=True, slots=True)
class SentBatch:
    """A batch on its way to a partition; one that is sent again has the same checksum.

    `topic` is None where the client names it by its id. Without idempotence `producer_id`,
    `producer_epoch` and `base_sequence` are -1.
    """

    topic: str | None
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int
    transactional: bool
    checksum: int


def batches(frame: bytes, request: Request) -> list[SentBatch]:
    """Those of a whole frame that came from a client; none where it is about something else."""
    if request.api != PRODUCE or request.version < PRODUCE_NAMES_TRANSACTION:
        return []
    try:
        return _batches(frame, request.version)
    except UNREADABLE:
        return []


def _batches(frame: bytes, version: int) -> list[SentBatch]:
    flexible = version >= PRODUCE_FLEXIBLE
    _, place = string(frame, 12)
    _, place = first_string(frame, place, flexible)
    topics, place = count(frame, place + ACKS_AND_TIMEOUT, flexible)
    found = []
    for _ in range(topics):
        if version >= PRODUCE_BY_ID:
            topic, place = None, place + 16
        else:
            topic, place = string(frame, place, flexible)
        partitions, place = count(frame, place, flexible)
        for _ in range(partitions):
            (partition,) = LENGTH.unpack_from(frame, place)
            size, place = count(frame, place + 4, flexible)
            if size >= HEADER.size:
                found.append(_batch(frame, place, topic, partition))
            place = tagged(frame, place + max(size, 0), flexible)
        place = tagged(frame, place, flexible)
    return found


def _batch(frame: bytes, place: int, topic: str | None, partition: int) -> SentBatch:
    head = HEADER.unpack_from(frame, place)
    checksum, attributes = head[4:6]
    producer, epoch, sequence, records = head[9:]
    transactional = bool(attributes & TRANSACTIONAL)
    return SentBatch(topic, partition, producer, epoch, sequence, records, transactional, checksum)
