"""Who came back to a group of lab 05, and who was in it together, by grading/judge/groups.py."""

from __future__ import annotations

from dataclasses import dataclass

from grading.judge.checks import Unseen
from grading.judge.groups import Commit, Members, Membership, events


@dataclass(frozen=True)
class Return:
    """A member that came when another had been there, and what was committed until then."""

    member: Membership
    former: Membership
    committed: dict[int, int]


def came_back(x, group: str, topic: str) -> Return:
    """The last member that joined a group after another one; ends the check where none did."""
    committed: dict[int, int | None] = {}
    came: list[Membership] = []
    found = None
    for event in events(x, group):
        if isinstance(event, Commit):
            if event.topic == topic:
                committed[event.partition] = event.offset
            continue
        for member in event.members:
            if member.id in {one.id for one in came}:
                continue
            if came:
                known = {n: offset for n, offset in committed.items() if offset is not None}
                found = Return(member, came[-1], known)
            came.append(member)
    if found is None:
        raise Unseen(f"in the group {group} no second consumer has come after a first one")
    return found


def together(x, group: str) -> tuple[Membership, ...]:
    """The members of a group when it had the most of them, the last time."""
    changes = [event.members for event in events(x, group) if isinstance(event, Members)]
    found = max(reversed(changes), key=len, default=())
    if not found:
        raise Unseen(f"the group {group} never had a member")
    return found
