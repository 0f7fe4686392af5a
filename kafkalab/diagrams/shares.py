"""Which member of a group reads which partition."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from kafkalab.diagrams.canvas import ADDED, GIVEN
from kafkalab.diagrams.plan import plan

if TYPE_CHECKING:
    from kafkalab.views import GroupView, TopicView

ROOM = {"width": 1.6, "between": 1.3, "gap": 0.2}


def rebalance(topic: str, before: GroupView, after: GroupView) -> Axes:
    """A group twice, with its partitions between; what changed hands is drawn in colour.

    A member without a partition stands there without an arrow.
    """
    old, new = _owners(before, topic), _owners(after, topic)
    left, right = _members(before, "before"), _members(after, "after")
    partitions = {number: f"partition {number}" for number in sorted({*old, *new})}
    moved = [partitions[number] for number in partitions if old.get(number) != new.get(number)]
    arrows = [
        (partitions[number], boxes[owner])
        for owners, boxes in ((old, left), (new, right))
        for number, owner in owners.items()
    ]
    return plan(
        [list(left.values()), list(partitions.values()), list(right.values())],
        arrows,
        colours=dict.fromkeys(moved, ADDED)
        | {f"{start} -> {end}": ADDED for start, end in arrows if start in moved},
        frames={
            f"before: {_counted(before)}": list(left.values()),
            f"topic {topic}": list(partitions.values()),
            f"after: {_counted(after)}": list(right.values()),
        },
        **ROOM,
    )


def cardinality(topic: TopicView, first: GroupView, second: GroupView) -> Axes:
    """Two groups and the same partitions, each partition on the server that leads it."""
    led: dict[int | None, list[str]] = {}
    for one in sorted(topic.partitions, key=lambda p: (p.leader is None, p.leader, p.partition)):
        led.setdefault(one.leader, []).append(f"partition {one.partition}")
    # A free place between two servers, for the name of the second.
    column = [place for boxes in led.values() for place in (None, *boxes)][1:]
    left, right = _members(first, "first"), _members(second, "second")
    arrows = [
        (f"partition {number}", boxes[owner])
        for view, boxes in ((first, left), (second, right))
        for number, owner in _owners(view, topic.name).items()
    ]
    reading = dict.fromkeys(left.values(), GIVEN) | dict.fromkeys(right.values(), ADDED)
    return plan(
        [list(left.values()), column, list(right.values())],
        arrows,
        colours=reading | {f"{start} -> {end}": reading[end] for start, end in arrows},
        frames={
            f"{first.name}: {_counted(first)}": list(left.values()),
            **{_server(leader): boxes for leader, boxes in led.items()},
            f"{second.name}: {_counted(second)}": list(right.values()),
        },
        **ROOM,
    )


def _owners(view: GroupView, topic: str) -> dict[int, str]:
    """Partition -> id of the member that has it."""
    return {
        partition: member.id
        for member in view.members
        for partition in member.assignment.get(topic, ())
    }


def _members(view: GroupView, where: str) -> dict[str, str]:
    """Member id -> its box. Members that share a client id are told apart by their own ids."""
    shared = Counter(member.client for member in view.members)
    return {
        member.id: (
            f"{member.client} {member.id[-4:]}" if shared[member.client] > 1 else member.client
        )
        + f"#{where} {member.id}"
        for member in view.members
    }


def _counted(view: GroupView) -> str:
    return f"{len(view.members)} member{'' if len(view.members) == 1 else 's'}"


def _server(leader: int | None) -> str:
    return "led by nobody" if leader is None else f"led by broker {leader}"
