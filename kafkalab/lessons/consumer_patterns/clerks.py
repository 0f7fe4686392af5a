"""A clerk, a program of its own, that is killed after its commit, and who comes after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafkalab import clients, members
from kafkalab.lessons.consumer_patterns.orders import place_orders
from kafkalab.lessons.consumer_patterns.reading import lags
from kafkalab.lessons.topics import new_topic

if TYPE_CHECKING:
    from kafka import KafkaProducer

    from kafkalab.cluster.cluster import Cluster

ORDERS = 10
BEFORE = """
from concurrent.futures import ThreadPoolExecutor
from kafka import OffsetAndMetadata
from kafkalab.lessons.consumer_patterns import CardService, first_poll
"""
AFTER = """
note("committed", charged=sorted(done))
os.kill(os.getpid(), signal.SIGKILL)
"""


@dataclass(frozen=True)
class Killed:
    """The offsets that were charged, the commit, and what the next member got."""

    charged: list[int]
    commit: int
    next_gets: list[int]
    lag: int

    def __str__(self) -> str:
        return (
            f"charged: {self.charged}, commit: {self.commit}\n"
            f"the next clerk gets: {self.next_gets}, lag: {self.lag}"
        )


def killed(
    clerk: str, cluster: Cluster, producer: KafkaProducer, settings: Mapping[str, Any]
) -> Killed:
    """Run these lines as a program on ten orders of one partition, and kill it after the last.

    They get `topic`, which is the group's name, too, `address` and `settings`, and leave `done`,
    the offsets of the orders that were charged.
    """
    from kafka import KafkaConsumer, TopicPartition

    topic = new_topic(cluster, "charges", 1)
    place_orders(producer, topic, ORDERS)
    given: dict[str, Any] = {"address": cluster.address, "topic": topic, "settings": dict(settings)}
    member = members.start(BEFORE + clerk + AFTER, "clerk", **given)
    member.wait_for_end()
    (charged,) = [one.facts["charged"] for one in member.events if one.what == "committed"]
    place = TopicPartition(topic, 0)
    group = {"group_id": topic, **settings}
    with KafkaConsumer(bootstrap_servers=cluster.address, **group) as successor:
        successor.assign([place])
        came = [record.offset for record in clients.records_until_end(successor)]
        commit = successor.committed(place)
    return Killed(charged, commit, came, lags(cluster, topic)[0])
