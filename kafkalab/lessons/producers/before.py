"""Topics, and a cluster that others have used before."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from kafka.protocol.producer import InitProducerIdRequest

from kafkalab import quick
from kafkalab.cluster import wire
from kafkalab.lessons import topics
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


def new_topic(cluster: Cluster, name: str, partitions: int = 1, **configs: str) -> str:
    """A topic with three copies; its name, with a number behind it where it is taken."""
    return topics.new_topic(cluster, name, partitions, copies=3, **configs)


def used_before(cluster: Cluster, topic: str) -> None:
    """Each broker has given out a producer id, and each partition of the topic has a record.

    The first id of a broker takes a tenth of a second: it fetches a block of them from the
    controller, and refuses meanwhile.
    """
    from kafka import KafkaProducer

    for address in cluster.addresses.values():
        wait_until(functools.partial(_gives_an_id, address), timeout=20, what="a producer id")
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        for partition in producer.partitions_for(topic):
            producer.send(topic, value=b"good morning", partition=partition)


def _gives_an_id(address: str) -> bool:
    """Whether a broker answers the question for an id with one."""
    request = InitProducerIdRequest(
        transactional_id=None, transaction_timeout_ms=60_000, producer_id=-1, producer_epoch=-1
    )
    return wire.ask(address, request).error_code == 0
