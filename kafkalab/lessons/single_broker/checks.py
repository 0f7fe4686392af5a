"""Wait until retention has looked at every log: only then "nothing was deleted" says something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalab import quick
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

OVERDUE = 1_000  # a time stamp, one second after the beginning of 1970


def wait_for_checks(cluster: Cluster, timeout: float = 15) -> None:
    """Until the broker has been through all its logs once, from first to last, since this call.

    A record of long ago goes with the next check. When a second one has gone too, that check is
    over, and with it every log has been looked at.
    """
    from kafka import KafkaAdminClient, KafkaProducer

    topic = cluster.unused("overdue")
    new = {"num_partitions": 1, "replication_factor": 1, "configs": {"retention.ms": "1"}}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: new})
        cluster.wait_for_topic(topic)
        with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
            for _ in range(2):
                sent = producer.send(topic, value=b"old", timestamp_ms=OVERDUE).get(timeout=10)
                _wait_until_gone(cluster, topic, sent.offset, timeout)
        admin.delete_topics([topic])


def _wait_until_gone(cluster: Cluster, topic: str, offset: int, timeout: float) -> None:
    wait_until(
        lambda: cluster.topic(topic).partitions[0].start_offset == offset + 1,
        timeout=timeout,
        what="retention to delete a record of long ago",
    )
