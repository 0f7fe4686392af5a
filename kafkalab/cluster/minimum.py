"""Whether the leaders of a topic refuse what wants `acks=all`, asked without writing anything.

A broker tells of other in-sync replicas a moment before the leaders on it act on them
(BrokerMetadataPublisher: the new metadata is shown first, and carried to the partitions then). What
is sent in that moment to a partition that falls below its minimum is written, and neither
acknowledged nor refused until its request's time is up, since the high watermark stands still.
What else came with the request, and what comes after it on the same connection, waits as long.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from kafka.errors import (
    CorruptRecordError,
    NotEnoughReplicasError,
    for_code,
)
from kafka.protocol.producer import ProduceRequest
from kafka.record.memory_records import MemoryRecordsBuilder

from kafkalab.cluster import wire
from kafkalab.cluster.asking import NotYet

CHECKSUM = slice(17, 21)  # its place in a batch


def refuses(address: str, topic: str, partitions: Iterable[int]) -> dict[int, bool]:
    """Partition -> whether this leader finds too few replicas in sync for its minimum.

    It looks at the minimum before it looks at the records. So it is given records that it refuses
    in any case, as their checksum is wrong, and its answer names the first of the two reasons.
    """
    data = ProduceRequest.TopicProduceData
    spoilt = _spoilt()
    request = ProduceRequest(
        transactional_id=None,
        acks=-1,
        timeout_ms=1_000,
        topic_data=[
            data(
                name=topic,
                partition_data=[
                    data.PartitionProduceData(index=partition, records=spoilt)
                    for partition in partitions
                ],
            )
        ],
    )
    found = {}
    for partition in wire.ask(address, request).responses[0].partition_responses:
        error = for_code(partition.error_code)
        if error not in (NotEnoughReplicasError, CorruptRecordError):
            raise NotYet(f"the leader of {topic} {partition.index} answers {error.__name__}")
        found[partition.index] = error is NotEnoughReplicasError
    return found


def _spoilt() -> bytes:
    """A batch whose checksum is not that of its records."""
    batch = MemoryRecordsBuilder(2, 0, 1_024)
    batch.append(round(time.time() * 1_000), None, b"")
    batch.close()
    buffer = bytearray(batch.buffer())
    buffer[CHECKSUM] = bytes(255 - byte for byte in buffer[CHECKSUM])
    return bytes(buffer)
