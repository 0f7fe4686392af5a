"""New topics for a page, whose cells may be run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalab import quick

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


def new_topic(
    cluster: Cluster, name: str, partitions: int = 1, copies: int = 1, **configs: str
) -> str:
    """Create a topic and return its name.

    Where the name is taken, it is `name-2` or `name-3`, so a cell that is run again has a new one.
    """
    from kafka import KafkaAdminClient

    topic = cluster.unused(name)
    wanted = {"num_partitions": partitions, "replication_factor": copies, "configs": configs}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: wanted})
    cluster.wait_for_topic(topic)
    return topic


def safe_topic(cluster: Cluster, name: str, partitions: int = 1) -> str:
    """Create one as lesson 08 made them safe: three replicas, two of them in sync at least."""
    return new_topic(cluster, name, partitions, copies=3, **{"min.insync.replicas": "2"})
