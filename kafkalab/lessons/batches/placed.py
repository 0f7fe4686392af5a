"""Topics whose partitions lie where the page says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalab import quick

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


def new_topic(cluster: Cluster, name: str, *leaders: int, copies: int = 1, **configs: str) -> str:
    """A topic with a partition for each of the leaders, further copies on the brokers that follow.

    Its name, with a number behind it where it is taken.
    """
    from kafka import KafkaAdminClient

    topic = cluster.unused(name)
    brokers = len(cluster.brokers)
    places = {
        partition: [(leader + copy) % brokers for copy in range(copies)]
        for partition, leader in enumerate(leaders)
    }
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"assignments": places, "configs": configs}})
    cluster.wait_for_topic(topic)
    return topic
