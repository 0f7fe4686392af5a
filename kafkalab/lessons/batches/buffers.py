"""What a producer holds at this moment: the records between `send` and the acknowledgement.

kafka-python tells how many requests are on their way, not what waits before them. So its own
buffers are read here, under its own locks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka import TopicPartition

if TYPE_CHECKING:
    from kafka import KafkaProducer
    from kafka.producer.producer_batch import ProducerBatch


@dataclass(frozen=True)
class HeldBatch:
    """A batch in the memory of a producer; `bytes` as counted against its `batch_size`."""

    records: int
    bytes: int

    @classmethod
    def of(cls, batch: ProducerBatch) -> HeldBatch:
        return cls(batch.record_count, batch.records.size_in_bytes())


@dataclass(frozen=True)
class Buffer:
    """The batches of one partition, oldest first: those that wait, and those under way."""

    partition: int
    leader: int | None
    waiting: list[HeldBatch]
    in_flight: list[HeldBatch]

    @property
    def records_waiting(self) -> int:
        """In batches that have not left."""
        return sum(batch.records for batch in self.waiting)

    @property
    def records_in_flight(self) -> int:
        """In batches that left and are not answered."""
        return sum(batch.records for batch in self.in_flight)


def buffers(producer: KafkaProducer, topic: str) -> list[Buffer]:
    """The buffer of each partition of the topic that the producer knows."""
    return [
        _buffer(producer, TopicPartition(topic, number))
        for number in sorted(producer.partitions_for(topic))
    ]


def _buffer(producer: KafkaProducer, place: TopicPartition) -> Buffer:
    accumulator, sender = producer._accumulator, producer._sender
    with accumulator._tp_lock(place):
        waiting = [HeldBatch.of(batch) for batch in accumulator._batches.get(place, ())]
        # A copy: the network thread adds and removes.
        under_way = sorted(sender._in_flight_batches.get(place, ()))
    in_flight = [HeldBatch.of(batch) for _, batch in under_way if batch.final_state is None]
    return Buffer(
        place.partition, producer._metadata.leader_for_partition(place), waiting, in_flight
    )
