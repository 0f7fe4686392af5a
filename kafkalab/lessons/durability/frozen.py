"""A leader whose followers stand still, and to whom it owes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafkalab import quick
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster
    from kafkalab.cluster.views import PartitionView


def wait_for_copies(cluster: Cluster, topic: str, records: int) -> None:
    """Until each replica in sync has so many records of partition 0, or more.

    The topic may be so new that not every broker knows it yet.
    """
    cluster.wait_for_topic(topic)
    wait_until(
        lambda: (_first(cluster, topic).end_offset or 0) >= records,
        timeout=15,
        what=f"{records} records of {topic} on each replica in sync",
        seen=lambda: f"they end at {_first(cluster, topic).end_offset}",
    )


@contextmanager
def frozen(cluster: Cluster, *topics: str) -> Iterator[None]:
    """While the block runs, all followers of partition 0 stand still; then they go on.

    The topics have one leader and the same followers.

    A follower keeps a fetch request waiting at its leader. What is written next goes out as the
    answer, into the memory of the frozen follower's connection, and would come to life with it. So
    these requests get something else: a record of another topic, led and followed by the same.
    Not in the block, where the leader may die: all that is in the topic at first is copied.
    """
    from kafka import KafkaAdminClient, KafkaProducer

    for topic in topics:
        cluster.wait_for_topic(topic)
    partition = _first(cluster, topics[0])
    followers = [broker for broker in partition.replicas if broker != partition.leader]
    other = cluster.unused("sentinel")
    new = {other: {"assignments": {0: [partition.leader, *followers]}}}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics(new)
    cluster.wait_for_topic(other)
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as all_have_it:
        all_have_it.send(other, b"the followers fetch this topic").get(timeout=15)
    with KafkaProducer(
        bootstrap_servers=cluster.address, acks=1, enable_idempotence=False, **quick.producer
    ) as producer:
        producer.send(other, b"the connection is there").get(timeout=15)
        for topic in topics:
            _wait_until_copied(cluster, topic)
        for follower in followers:
            cluster.pause(follower)
        try:
            # The second is answered when the broker is done with the first, its answers included.
            for sentinel in (b"this is what you wait for", b"and this nobody waits for"):
                producer.send(other, sentinel).get(timeout=15)
            _wait_until_answered(cluster, partition.leader)
            yield
        finally:
            for follower in followers:
                cluster.resume(follower)


def _first(cluster: Cluster, topic: str) -> PartitionView:
    return cluster.topic(topic).partitions[0]


def _wait_until_copied(cluster: Cluster, topic: str) -> None:
    wait_until(
        lambda: len(set(cluster.log_ends(topic).values())) == 1,
        timeout=15,
        what=f"all replicas of {topic} to have the same records",
        seen=lambda: str(cluster.log_ends(topic)),
    )


def _wait_until_answered(cluster: Cluster, leader: int | None) -> None:
    """Where the gateway lies between the nodes too; elsewhere there is nothing to see."""
    wait_until(
        lambda: all(
            fetch.outcome != "open"
            for fetch in cluster.gateway.frames("Fetch", broker=leader, between="nodes")
        ),
        timeout=5,
        what="the answers to the followers' requests",
    )
