"""Members that are polled in turn until there is nothing left, and how far they are behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kafkalab.lessons.joined import are_joined
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafka import KafkaConsumer

    from kafkalab.cluster.cluster import Cluster

Place = tuple[int, int]

# So often at least a packer tries in vain before its day is over.
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
    work: Callable[[], object], cluster: Cluster, group: str, stuck: Sequence[int] = ()
) -> dict[int, int]:
    """Do it again and again until no partition has a lag, and return the lags then.

    stuck: a note of the partition for each vain attempt. Those may have a lag once the day has
    seen some more attempts.
    """
    before = len(stuck)

    def done() -> dict[int, int] | None:
        work()
        found = lags(cluster, group)
        waiting = any(lag for number, lag in found.items() if number not in stuck)
        tried = not stuck or len(stuck) - before >= ATTEMPTS
        return found if tried and not waiting else None

    return wait_until(done, timeout=30, what="the last order of the day", every=0.01)
