"""A read that ends: up to where the log ended when it began."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kafkalab.wait import WaitTimeout

if TYPE_CHECKING:
    from kafka import KafkaConsumer
    from kafka.consumer.fetcher import ConsumerRecord


def records_until_end(consumer: KafkaConsumer, timeout: float = 10) -> Iterator[ConsumerRecord]:
    """The records between the consumer's positions and the ends of its partitions as of now.

    A consumer of a group first waits until it has partitions. Records that arrive later are left
    for the next call. No end within `timeout` seconds is an error that says what is missing.
    """
    deadline = time.monotonic() + timeout
    waiting = []
    if not consumer.assignment():
        waiting = _first_records(consumer, deadline)
    partitions = consumer.assignment()
    if not partitions:
        raise WaitTimeout(
            f"Waited {timeout:g} s for partitions to read from.",
            "The consumer has none: its group may still be arranging itself, or the topic is new.",
        )
    ends = consumer.end_offsets(list(partitions))
    yield from _before(ends, waiting, consumer)
    while missing := {p: e for p, e in ends.items() if consumer.position(p) < e}:
        if time.monotonic() > deadline:
            lags = ", ".join(
                f"{p.topic} {p.partition}: at {consumer.position(p)} of {e}"
                for p, e in missing.items()
            )
            raise WaitTimeout(f"Waited {timeout:g} s for the end of the log.", lags)
        for records in consumer.poll(timeout_ms=200).values():
            yield from _before(ends, records, consumer)


def _first_records(consumer: KafkaConsumer, deadline: float) -> list[ConsumerRecord]:
    """Poll until there is an assignment; the poll that brings it may bring records too."""
    while time.monotonic() < deadline:
        polled = consumer.poll(timeout_ms=200)
        if consumer.assignment():
            return [record for records in polled.values() for record in records]
    return []


def _before(
    ends: Mapping[Any, int], records: Iterable[ConsumerRecord], consumer: KafkaConsumer
) -> list[ConsumerRecord]:
    """The records before the ends; the consumer goes back to those that the poll brought too."""
    found, beyond = [], set()
    for record in records:
        place = _place(record)
        if record.offset < ends[place]:
            found.append(record)
        else:
            beyond.add(place)
    for place in beyond:
        consumer.seek(place, ends[place])
    return found


def _place(record: ConsumerRecord) -> Any:
    from kafka import TopicPartition

    return TopicPartition(record.topic, record.partition)
