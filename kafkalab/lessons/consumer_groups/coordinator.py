"""The broker that looks after a group: found by the group's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkalab import quick

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


def java_hash(text: str) -> int:
    """The 32 bits that `String.hashCode()` of Java gives, as Java writes them: with a sign."""
    units = text.encode("utf-16-be")
    number = 0
    for place in range(0, len(units), 2):
        number = (31 * number + int.from_bytes(units[place : place + 2], "big")) & 0xFFFFFFFF
    return number - (1 << 32) if number >= 1 << 31 else number


def beside_coordinator(cluster: Cluster, name: str, partitions: int = 6) -> tuple[str, int]:
    """A new topic of this name, and the broker that will coordinate a group of the topic's name.

    The topic lies on all other brokers. All faults are undone first.
    """
    from kafka import KafkaAdminClient

    cluster.mend()
    topic = cluster.unused(name)
    coordinator = cluster.coordinator(topic)
    others = [broker for broker in cluster.brokers if broker != coordinator]
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"assignments": dict.fromkeys(range(partitions), others)}})
    cluster.wait_for_topic(topic)
    return topic, coordinator


def coordinator_of(cluster: Cluster, group: str) -> Callable[[Any], str]:
    """Of the id of the broker that coordinates a group: the brokers are asked."""

    def problem(told: Any) -> str:
        if told == cluster.coordinator(group):
            return ""
        if told not in set(cluster.brokers):
            return f"{told!r} is no broker of this cluster."
        return "the brokers name another one."

    return problem
