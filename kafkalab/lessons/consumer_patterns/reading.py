"""Topics of the lesson, and members that are polled in turn until there is nothing left."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from kafkalab import quick
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafka import KafkaConsumer

    from kafkalab.cluster.cluster import Cluster

Place = tuple[int, int]


def new_topic(cluster: Cluster, name: str, partitions: int) -> str:
    """Create a topic with one copy and return its name: `name-2`, … where the name is taken."""
    from kafka import KafkaAdminClient

    topic = cluster.unused(name)
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"num_partitions": partitions, "replication_factor": 1}})
    cluster.wait_for_topic(topic)
    return topic


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
    from kafka.coordinator.base import MemberState

    got: list[Place] = []

    def nothing_left() -> bool:
        for member in members:
            for place, records in member.poll(timeout_ms=50).items():
                got.extend((place.partition, record.offset) for record in records)
        known = [member.group_metadata() for member in members]
        together = len({one.generation_id for one in known}) == 1
        if not together or any(one.state != MemberState.STABLE for one in known):
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
    work: Callable[[], object], cluster: Cluster, group: str, but: Collection[int] = ()
) -> dict[int, int]:
    """Do it again and again until no partition has a lag, but for these; the lags then."""

    def done() -> dict[int, int] | None:
        work()
        found = lags(cluster, group)
        return None if any(lag for number, lag in found.items() if number not in but) else found

    return wait_until(done, timeout=30, what="the last order of the day", every=0.01)
