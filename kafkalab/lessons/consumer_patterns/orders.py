"""The orders of a shop."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka import KafkaProducer

CUSTOMERS = 24


def place_orders(producer: KafkaProducer, topic: str, number: int, bad: int | None = None) -> None:
    """Send so many orders, the same number to each partition; the one numbered `bad` breaks off.

    The key is the customer, whose orders are in one partition where the number of partitions
    divides that of the customers.
    """
    partitions = len(producer.partitions_for(topic))
    for order in range(number):
        customer = b"customer %d" % (order % CUSTOMERS)
        value = b'{"order": ' if order == bad else b'{"order": %d}' % order
        producer.send(topic, key=customer, value=value, partition=order % partitions)
    producer.flush(timeout=10)
