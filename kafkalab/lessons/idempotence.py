"""Lesson idempotence: numbers delivered by hand, orders drawn; a leader forgets."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from kafkalab import quick
from kafkalab.gateway.apis import error
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

IN_PLACE, OVERTAKEN = "#9CC9E8", "#F3CE7F"
EDGE = "#444444"


def overtaken(log: Sequence[int]) -> list[int]:
    """Numbers that stand behind a larger one, where they were sent in the order of counting."""
    return [number for place, number in enumerate(log) if any(n > number for n in log[:place])]


def order(logs: Mapping[str, Sequence[int]]) -> Axes:
    """A row for each log: the numbers in the order of their offsets, the overtaken ones marked."""
    ax = plt.subplots(figsize=(7.5, 0.8 * len(logs) + 1.1))[1]
    for row, log in enumerate(logs.values()):
        behind = overtaken(log)
        for offset, number in enumerate(log):
            late = number in behind
            ax.barh(
                row,
                0.9,
                left=offset - 0.45,
                height=0.7,
                color=OVERTAKEN if late else IN_PLACE,
                edgecolor=EDGE,
                hatch="///" if late else "",
                label="ride behind a later one" if late else "no later ride before it",
            )
            ax.text(offset, row, f" {number} ", ha="center", va="center", weight="bold").set_bbox(
                {"facecolor": "white", "edgecolor": "none", "pad": 1}
            )
    ax.set_yticks(range(len(logs)), list(logs))
    longest = max(map(len, logs.values()), default=0)
    ax.set_xticks(range(longest))
    ax.set(xlabel="offset", xlim=(-0.6, longest - 0.4))
    ax.set_ylim(len(logs) - 0.4, -0.6)
    ax.grid(visible=False)
    shown = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    ax.figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=2)
    return ax


class Courier:
    """Delivers batches of one producer id to partition 0 of topics, in any order.

    It sends what it is given once, with the sequence number that it is given, as no producer would.
    """

    def __init__(self, cluster: Cluster) -> None:
        from kafka import KafkaAdminClient
        from kafka.protocol.producer import InitProducerIdRequest

        self._cluster = cluster
        self._admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
        ask = InitProducerIdRequest(
            transactional_id=None,
            transaction_timeout_ms=60_000,
            producer_id=-1,
            producer_epoch=-1,
            max_version=4,
        )

        def given() -> tuple[int, int] | None:
            answer = self._send(ask, cluster.brokers[0])
            return None if answer.error_code else (answer.producer_id, answer.producer_epoch)

        self._producer = wait_until(given, timeout=15, what="a producer id")

    def deliver(self, topic: str, *rides: int, sequence: int | None = None) -> str:
        """What the leader answers to a batch of rides; without a sequence it has no numbers."""
        from kafka.protocol.producer import ProduceRequest
        from kafka.record.memory_records import MemoryRecordsBuilder

        numbers = {}
        if sequence is not None:
            producer_id, epoch = self._producer
            numbers = {"producer_id": producer_id, "producer_epoch": epoch}
            numbers["base_sequence"] = sequence
        batch = MemoryRecordsBuilder(2, 0, 16_384, **numbers)
        for ride in rides:
            batch.append(round(time.time() * 1000), None, b"%d" % ride)
        batch.close()
        data = ProduceRequest.TopicProduceData
        partition = data.PartitionProduceData(index=0, records=batch.buffer())
        request = ProduceRequest(
            transactional_id=None,
            acks=-1,
            timeout_ms=5_000,
            topic_data=[data(name=topic, partition_data=[partition])],
            max_version=9,
        )
        answer = self._send(request, self._cluster.topic(topic).partitions[0].leader)
        told = answer.responses[0].partition_responses[0]
        return error(told.error_code) if told.error_code else f"offset {told.base_offset}"

    def _send(self, request: Any, broker: int | None) -> Any:
        async def ask() -> Any:
            return await self._admin._manager.send(request, node_id=broker)

        return self._admin._manager.run(ask)


def forget_producers(cluster: Cluster, topic: str, setting: str) -> None:
    """Let the leader of partition 0 forget every producer, and put the setting back.

    `setting` is the one that says for how many milliseconds a broker remembers a silent producer.
    """
    from kafka import KafkaAdminClient, TopicPartition
    from kafka.admin import ConfigResource

    place = TopicPartition(topic, 0)
    usual = cluster.broker_configs(cluster.brokers[0])[setting].value
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:

        def let(value: str) -> None:
            for broker in cluster.brokers:
                resource = ConfigResource("BROKER", str(broker), configs={setting: value})
                admin.alter_configs([resource])
            cluster.wait_for_setting(setting, value)

        let("1")
        try:
            wait_until(
                lambda: not admin.describe_producers([place])[place].active_producers,
                timeout=15,
                what=f"the leader of {topic} to forget its producers",
            )
        finally:
            let(str(usual))


def accepted(cluster: Cluster, courier: Courier, topic: str) -> Callable[[int], str]:
    """Of the number of the next batch in a topic: the leader says whether it is the right one."""

    def problem(number: int) -> str:
        end = cluster.topic(topic).records
        told = courier.deliver(topic, 13, sequence=number)
        return "" if told == f"offset {end}" else f"the leader says {told}."

    return problem


def first_of_each(rides: Sequence[int]) -> Callable[[list[int]], str]:
    """Of a list that has each of these rides once, where it came first."""

    def problem(each: list[int]) -> str:
        if len(each) != len(set(each)):
            return "a ride is there twice."
        if set(each) != set(rides):
            return "these are not the rides of the topic."
        return "" if each == list(dict.fromkeys(rides)) else "the order is another one."

    return problem
