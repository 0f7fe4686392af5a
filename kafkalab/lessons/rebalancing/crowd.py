"""Customers whose orders never end, so that a partition that stands still can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalab import members

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

PROGRAM = """
from confluent_kafka import Producer
producer = Producer({"bootstrap.servers": address})
while running():
    for partition in range(partitions):
        producer.produce(topic, b"0", partition=partition)
    producer.flush(10)
    work(0.05)
"""


def customers(cluster: Cluster, topic: str, partitions: int) -> members.Member:
    """A program that sends orders of no work to each partition, up to twenty a second.

    It stands still until a `change` thaws it: no orders come while somebody reads a page.
    """
    crowd = members.start(
        PROGRAM,
        "customers",
        address=cluster.address,
        limit=7_200,
        topic=topic,
        partitions=partitions,
    )
    crowd.freeze()
    return crowd
