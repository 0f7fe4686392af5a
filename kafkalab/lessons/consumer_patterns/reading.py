"""Members that are polled in turn until there is nothing left, and how far they are behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkalab.lessons.joined import are_joined
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafka import KafkaConsumer
    from kafka.consumer.fetcher import ConsumerRecord

    from kafkalab.cluster.cluster import Cluster

Place = tuple[int, int]
OnBad = Callable[["ConsumerRecord", Exception], bool]

# So often at least a member tries a record in vain before its day is over.
ATTEMPTS = 5


def first_poll(member: KafkaConsumer, max_records: int, timeout: float = 30) -> list[Any]:
    """Poll until records of one partition come, so many at most."""
    polled = wait_until(
        lambda: member.poll(timeout_ms=100, max_records=max_records) or None,
        timeout=timeout,
        what="the first records",
        every=0.01,
    )
    (records,) = polled.values()
    return list(records)


def read_on(*members: KafkaConsumer, timeout: float = 30) -> list[Place]:
    """Poll the members of a group in turn until they share its partitions and have read all.

    What they got meanwhile, as (partition, offset).
    """
    got: list[Place] = []

    def nothing_left() -> bool:
        for member in members:
            for place, records in member.poll(timeout_ms=50).items():
                got.extend((place.partition, record.offset) for record in records)
        if not are_joined(members):
            return False
        return all(member.assignment() and _at_end(member) for member in members)

    wait_until(nothing_left, timeout=timeout, what="the end of all partitions", every=0.01)
    return got


def _at_end(member: KafkaConsumer) -> bool:
    ends = member.end_offsets(list(member.assignment()))
    return all(member.position(place, timeout_ms=5_000) == end for place, end in ends.items())


def lags(cluster: Cluster, group: str) -> dict[int, int]:
    """Of the topic of the group's name: records behind the commit (or the start) by partition."""
    commits = cluster.group(group).offsets
    return {
        partition.partition: (partition.end_offset or 0)
        - commits.get((group, partition.partition), 0)
        for partition in cluster.topic(group).partitions
    }


def evening(
    cluster: Cluster,
    work: Callable[[KafkaConsumer, OnBad], object],
    member: KafkaConsumer,
    on_bad: OnBad,
) -> dict[int, int]:
    """Let the member work until no partition has a lag, and return the lags then.

    One may have a lag in which a record was tried in vain some times: `on_bad` returned False.
    """
    group = member.config["group_id"]
    in_vain: Counter[int] = Counter()

    def noted(record: ConsumerRecord, error: Exception) -> bool:
        dealt_with = on_bad(record, error)
        in_vain[record.partition] += not dealt_with
        return dealt_with

    def done() -> dict[int, int] | None:
        work(member, noted)
        found = lags(cluster, group)
        waiting = any(lag and in_vain[number] < ATTEMPTS for number, lag in found.items())
        return None if waiting else found

    return wait_until(done, timeout=30, what="the last order of the day", every=0.01)
