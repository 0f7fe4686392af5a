"""The broker that looks after a group: found by the group's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kafkalab import quick
from kafkalab.lessons.failover import preferred_lead

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


def java_hash(text: str) -> int:
    """The 32 bits that `String.hashCode()` of Java gives, as Java writes them: with a sign.

    The absolute value of -2**31 is 0 for Kafka, and not for Python.
    """
    units = text.encode("utf-16-be")
    number = 0
    for place in range(0, len(units), 2):
        number = (31 * number + int.from_bytes(units[place : place + 2], "big")) & 0xFFFFFFFF
    return number - (1 << 32) if number >= 1 << 31 else number


def beside_coordinator(cluster: Cluster, name: str, partitions: int = 6) -> tuple[str, int]:
    """A new topic of this name, and the broker that will coordinate a group of the topic's name.

    The topic lies on all other brokers. All faults are undone first, also those of an earlier run:
    where a killed broker came back and leads nothing, one broker may coordinate every group.
    """
    from kafka import KafkaAdminClient

    preferred_lead(cluster, "__consumer_offsets")
    topic = cluster.unused(name)
    coordinator = cluster.coordinator(topic)
    others = [broker for broker in cluster.brokers if broker != coordinator]
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"assignments": dict.fromkeys(range(partitions), others)}})
    cluster.wait_for_topic(topic)
    return topic, coordinator


def coordinators_of(cluster: Cluster, groups: Iterable[str]) -> Callable[[Any], str]:
    """Of group -> id of the broker that coordinates it: the brokers are asked."""
    asked = list(groups)

    def problem(told: Any) -> str:
        if not isinstance(told, Mapping) or set(told) != set(asked):
            return f"it should have the groups {', '.join(asked)} as keys."
        wrong = [group for group in asked if told[group] != cluster.coordinator(group)]
        return f"the brokers say otherwise of {', '.join(wrong)}." if wrong else ""

    return problem
