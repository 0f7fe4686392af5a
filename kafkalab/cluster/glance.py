"""What a cluster looks like at this moment, as far as it tells without being waited for.

The views of `Cluster` wait until the cluster has settled, which is right for a lesson's answer and
wrong for watching it break. A glance takes what is told now and leaves the rest open.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalab.cluster import wire
from kafkalab.cluster.asking import UNSETTLED
from kafkalab.cluster.survey import LATEST, Place, Survey


@dataclass(frozen=True)
class PartitionGlance:
    """`end` is None while no leader tells it."""

    leader: int | None
    epoch: int
    replicas: list[int]
    isr: list[int]
    end: int | None


@dataclass(frozen=True)
class GroupGlance:
    """`lag` by topic; None while the end of one of its partitions is not told."""

    state: str
    lag: dict[str, int | None]


@dataclass(frozen=True)
class Glance:
    """`members` are the brokers that the controller counts as alive; None if nobody answers.

    `groups` is None while a broker that may coordinate one does not answer.
    """

    members: frozenset[int] | None = None
    partitions: dict[Place, PartitionGlance] = field(default_factory=dict)
    groups: dict[str, GroupGlance] | None = None


def glance(survey: Survey) -> Glance:
    """Ask each broker in reach once. Kafka's own topics are left out."""
    try:
        answer = survey.ask_metadata(None)
    except UNSETTLED:
        return Glance()
    known = {
        (topic.name, p.partition_index): p
        for topic in answer.topics
        if not topic.is_internal
        for p in topic.partitions
    }
    try:
        ends, _ = survey.offsets_now(list(known), LATEST)
    except UNSETTLED:
        ends = {}
    partitions = {
        place: PartitionGlance(
            leader=p.leader_id if p.leader_id >= 0 else None,
            epoch=p.leader_epoch,
            replicas=list(p.replica_nodes),
            isr=list(p.isr_nodes),
            end=ends.get(place),
        )
        for place, p in sorted(known.items())
    }
    try:
        groups = _groups(survey, ends)
    except UNSETTLED:
        groups = None
    return Glance(frozenset(wire.brokers(answer)), partitions, groups)


def _groups(survey: Survey, ends: dict[Place, int]) -> dict[str, GroupGlance]:
    found = {}
    for name, (coordinator, kind, state) in sorted(survey.listed_groups().items()):
        lag: dict[str, int | None] = {}
        if kind in ("classic", "consumer"):
            for (topic, partition), offset in sorted(survey.committed(name, coordinator).items()):
                end, before = ends.get((topic, partition)), lag.get(topic, 0)
                lag[topic] = None if end is None or before is None else before + end - offset
        found[name] = GroupGlance(state, lag)
    return found
