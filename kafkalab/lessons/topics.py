"""Topics as safe as lesson 08 made them, for the lessons that build on that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalab import quick

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

SAFE = {"replication_factor": 3, "configs": {"min.insync.replicas": "2"}}


def safe_topic(cluster: Cluster, name: str, partitions: int = 1) -> str:
    """Create a topic with three replicas, two of them in sync at least, and return its name.

    Where the name is taken, it is `name-2` or `name-3`, so a cell that is run again has a new one.
    """
    from kafka import KafkaAdminClient

    topic = cluster.unused(name)
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"num_partitions": partitions, **SAFE}})
    cluster.wait_for_topic(topic)
    return topic
