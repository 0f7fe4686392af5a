"""Checks of the exercises."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkalab import quick
from kafkalab.lessons.topics import new_topic
from kafkalab.wait import WaitTimeout, wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

WAITING = 12  # records of each kind
AT_ONCE = 4


def gap_free(to_commit: Callable[[list[int], set[int]], Any]) -> str:
    """Of a function that names the offset to commit, from those received and those done."""
    cases: list[tuple[list[int], set[int], int, str]] = [
        (list(range(10)), set(range(10)) - {3}, 3, "all but 3 are done"),
        ([4, 5, 6], {5, 6}, 4, "4 is not done"),
        ([4, 5, 6], {4, 5, 6}, 7, "all are done"),
        ([4, 6, 9], {4, 6}, 9, "9 is not done (other offsets of the log hold no record)"),
    ]
    for received, done, right, what in cases:
        told = to_commit(list(received), set(done))
        if told != right:
            return f"of {received} {what}, and it says {told}."
    return ""


def rush_first(cluster: Cluster) -> Callable[[Any], str]:
    """Of a function that is called before each poll: the rush orders must come first, then all.

    It gets the consumer, the places `rush` and `normal`, and how many rush orders wait.
    """

    def problem(before_poll: Any) -> str:
        kinds = served(cluster, before_poll)
        if len(kinds) < 2 * WAITING:
            return f"{2 * WAITING - len(kinds)} orders never came: is a partition paused for good?"
        early = kinds.index("normal")
        return "" if early >= WAITING else f"a normal order came after {early} rush orders."

    return problem


def served(cluster: Cluster, before_poll: Callable[..., Any], seconds: float = 8) -> list[str]:
    """The kinds of the orders in the order in which they came: all, or those of some seconds."""
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition

    topic = new_topic(cluster, "rush", 2)
    rush, normal = TopicPartition(topic, 0), TopicPartition(topic, 1)
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        for number in range(2 * WAITING):
            producer.send(topic, b"order", partition=1 - number % 2)
        producer.flush(timeout=10)
    kinds: list[str] = []
    own = quick.consumer | {"auto_offset_reset": "earliest", "max_poll_records": AT_ONCE}
    with KafkaConsumer(bootstrap_servers=cluster.address, **own) as consumer:
        consumer.assign([normal, rush])
        end = consumer.end_offsets([rush])[rush]

        def all_came() -> bool:
            before_poll(consumer, rush, normal, end - consumer.position(rush))
            for place, records in consumer.poll(timeout_ms=100).items():
                kinds.extend(["rush" if place == rush else "normal"] * len(records))
            return len(kinds) == 2 * WAITING

        with contextlib.suppress(WaitTimeout):  # what never came is for the caller to see
            wait_until(all_came, timeout=seconds, what="all orders", every=0.01)
    return kinds
