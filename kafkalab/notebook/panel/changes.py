"""What changed between two looks at a cluster or a group, in sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from kafkalab import tables
from kafkalab.cluster.glance import Glance
from kafkalab.cluster.views import GroupView

Owners = Mapping[tuple[str, int], str]


def of_processes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Node -> state, twice."""
    return [
        f"{node} was {before[node]} and is {state}"
        for node, state in after.items()
        if before.get(node, state) != state
    ]


def of_cluster(before: Glance, after: Glance) -> list[str]:
    """Partitions to which the same happened share a sentence."""
    return [*_members(before, after), *_leaders(before, after), *_replicas(before, after)]


def marks(before: Glance, after: Glance) -> dict[tuple[str, int], str]:
    """What of a partition is another than before, by topic and partition; ends always grow."""
    found = {}
    for place, now in after.partitions.items():
        then = before.partitions.get(place)
        if then is not None:
            pairs = {"leader": (then.leader, now.leader), "in sync": (then.isr, now.isr)}
            if words := ", ".join(word for word, (old, new) in pairs.items() if old != new):
                found[place] = words
    return found


def of_group(before: GroupView | None, after: GroupView) -> list[str]:
    """Its state, and whom it counts as a member."""
    if before is None:
        return []
    then, now = ({member.client for member in view.members} for view in (before, after))
    return [
        *(f"the group counts {name} out" for name in sorted(then - now)),
        *(f"the group counts {name} in" for name in sorted(now - then)),
        *([f"the group was {before.state} and is {after.state}"] * (before.state != after.state)),
    ]


def of_owners(before: Owners, after: Owners) -> list[str]:
    """Who has which partition. Those that went the same way share a sentence."""
    moved: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for topic, partition in sorted({*before, *after}):
        old, new = (one.get((topic, partition), "nobody") for one in (before, after))
        if old != new:
            moved[topic, old, new].append(partition)
    return [
        f"{_named(topic, partitions)}: {old} read and {new} reads"
        for (topic, old, new), partitions in moved.items()
    ]


def _members(before: Glance, after: Glance) -> list[str]:
    if before.members is None or after.members is None:
        return []
    gone, come = before.members - after.members, after.members - before.members
    return [
        *(f"the controller counts broker {broker} out" for broker in sorted(gone)),
        *(f"the controller counts broker {broker} in" for broker in sorted(come)),
    ]


def _leaders(before: Glance, after: Glance) -> list[str]:
    moved: dict[tuple[str, int | None, int | None], list[int]] = defaultdict(list)
    for (topic, partition), now in after.partitions.items():
        then = before.partitions.get((topic, partition))
        if then is not None and then.leader != now.leader:
            moved[topic, then.leader, now.leader].append(partition)
    return [
        f"{_named(topic, partitions)}: the leader was {_broker(old)} and is {_broker(new)}"
        for (topic, old, new), partitions in moved.items()
    ]


def _replicas(before: Glance, after: Glance) -> list[str]:
    moved: dict[tuple[str, tuple[int, ...], str], list[int]] = defaultdict(list)
    for (topic, partition), now in after.partitions.items():
        then = before.partitions.get((topic, partition))
        if then is None:
            continue
        if gone := tuple(sorted(set(then.isr) - set(now.isr))):
            moved[topic, gone, "left"].append(partition)
        if come := tuple(sorted(set(now.isr) - set(then.isr))):
            moved[topic, come, "joined"].append(partition)
    return [
        f"{_named(topic, partitions)}: broker {tables.show(brokers)} {how} the in-sync replicas"
        for (topic, brokers, how), partitions in moved.items()
    ]


def _named(topic: str, partitions: list[int]) -> str:
    return f"{topic} {tables.show(partitions)}"


def _broker(leader: int | None) -> str:
    return "nobody" if leader is None else f"broker {leader}"
