"""All orders of a topic, charged by the threads of one program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkalab.lessons import consumer_groups
from kafkalab.lessons.consumer_patterns.orders import place_orders
from kafkalab.lessons.consumer_patterns.service import CardService
from kafkalab.lessons.consumer_patterns.threads import threads
from kafkalab.lessons.topics import new_topic

if TYPE_CHECKING:
    from kafka import KafkaProducer

    from kafkalab.cluster.cluster import Cluster


def charge_all(
    cluster: Cluster,
    producer: KafkaProducer,
    orders: int,
    read: Callable[..., object],
    hand: Callable[[Any], object],
    service: CardService,
    consumers: int = 1,
    partitions: int = 3,
) -> None:
    """`read(topic, hand, stop)` in a thread for each consumer, until all orders are charged.

    The orders are placed when each consumer has its partitions.
    """
    topic = new_topic(cluster, "charges", partitions)
    with threads(consumers, read, topic, hand):
        consumer_groups.owners(cluster, topic, consumers)
        place_orders(producer, topic, orders)
        service.wait_for(orders)
