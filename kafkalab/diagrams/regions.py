"""Failover inside a cluster, and recovery in another one far away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from kafkalab.diagrams.canvas import ADDED, GIVEN, QUIET
from kafkalab.diagrams.plan import Arrow, plan

if TYPE_CHECKING:
    from kafkalab.views import PartitionView


def regions(topic: str, partition: PartitionView, zones: Mapping[int, str]) -> Axes:
    """The replicas of a partition in their zones, and the second cluster that mirrors the topic.

    `zones` gives each broker its rack. A follower that is not in sync is named so: it may not
    take over. Of the second cluster there is one box; it has a leader and followers of its own.
    """
    boxes = {
        broker: f"zone {zones[broker]}\nbroker {broker}\n" + _role(partition, broker)
        for broker in partition.replicas
    }
    followers = [boxes[broker] for broker in partition.replicas if broker != partition.leader]
    mirror = f"another cluster\n{topic}, mirrored"
    arrows: list[Arrow] = []
    middle = []
    if partition.leader is not None:
        leader = boxes[partition.leader]
        middle = [[leader]]
        arrows = [(leader, one, "replicated") for one in followers]
        arrows.append((leader, mirror, "mirrored"))
    return plan(
        [followers, *middle, [mirror]],
        arrows,
        colours={boxes.get(partition.leader, ""): GIVEN, mirror: ADDED}
        | {boxes[b]: QUIET for b in partition.replicas if b not in partition.isr},
        frames={
            f"region 1: failover of {topic} {partition.partition}": [*boxes.values()],
            "region 2: disaster recovery": [mirror],
        },
        width=1.8,
        between=1.15,
        gap=0.4,
    )


def _role(partition: PartitionView, broker: int) -> str:
    if broker == partition.leader:
        return "leader"
    return "follower, in sync" if broker in partition.isr else "not in sync"
