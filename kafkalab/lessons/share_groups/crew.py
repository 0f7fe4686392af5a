"""What a crew of workers did with the records of one partition, as they wrote it down."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kafkalab import members
from kafkalab.lessons.share_groups.developing import develop
from kafkalab.members import Event, Member
from kafkalab.members.events import NANOSECONDS
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


Crew = Mapping[str, Member]


@dataclass(frozen=True)
class Turn:
    """A worker's work on one record, in seconds of the machine's clock.

    It ends with the broker's answer to the acknowledgement or the commit; `ended` is None where it
    never came to that. `tries` counts the deliveries of the record up to this one, as the broker
    says; 0 in a group that does not count them.
    """

    worker: str
    offset: int
    began: float
    ended: float | None
    tries: int = 0


def hire(
    program: str,
    names: Iterable[str],
    cluster: Cluster,
    topic: str,
    settings: Mapping[str, Any],
    group: str = "",
) -> dict[str, Member]:
    """Start a worker of each name; their group has the name of the topic if no other is given.

    At hand in the program are the topic, the group, the settings, `address` and `develop`.
    """
    given: dict[str, Any] = {"topic": topic, "group": group or topic, "settings": dict(settings)}
    return {
        name: members.start(program, name, address=cluster.address, develop=develop, **given)
        for name in names
    }


def ready(cluster: Cluster, group: str, members: int, timeout: float = 60) -> None:
    """Until a group of either kind has so many members, and nothing is left to deal out."""

    def dealt() -> bool:
        view = cluster.group(group)
        having = [member for member in view.members if member.assignment]
        enough = members if view.type == "share" else 1
        return view.state == "STABLE" and len(view.members) == members and len(having) >= enough

    wait_until(dealt, timeout=timeout, what=f"{members} members of {group}")


def turns(crew: Crew) -> list[Turn]:
    """All that the crew worked on, in the order in which it was begun."""
    work = [turn for name, worker in crew.items() for turn in _turns(name, worker.events)]
    return sorted(work, key=lambda turn: turn.began)


def by_worker(work: Iterable[Turn]) -> dict[str, list[Turn]]:
    """The same by worker, who are in the order of their names; who had none is left out."""
    found: dict[str, list[Turn]] = {}
    for turn in work:
        found.setdefault(turn.worker, []).append(turn)
    return dict(sorted(found.items()))


def dead(crew: Crew) -> list[str]:
    """The names of those whose program has ended."""
    return [name for name, worker in crew.items() if worker.state == "ended"]


def _turns(name: str, events: Sequence[Event]) -> list[Turn]:
    found: list[Turn] = []
    for event in events:
        at = event.at / NANOSECONDS
        if event.what == "begins":
            found.append(Turn(name, event.facts["offset"], at, None, event.facts.get("tries", 0)))
        elif event.what == "done":
            found[-1] = replace(found[-1], ended=at)
    return found


def wait_for_films(crew: Crew, offsets: Iterable[int], timeout: float = 60) -> list[Turn]:
    """What the crew did on these records, once each of them has been done."""
    wanted = set(offsets)

    def all_done() -> list[Turn] | None:
        done = [one for one in turns(crew) if one.offset in wanted and one.ended is not None]
        return done if {turn.offset for turn in done} == wanted else None

    return wait_until(
        all_done, timeout=timeout, what=f"{len(wanted)} films", seen=lambda: list(crew.values())
    )


def holder(crew: Crew, offset: int, *, besides: Iterable[str] = (), timeout: float = 60) -> Turn:
    """The first work on a record, by anybody or by none of these, as soon as it is begun."""
    others = set(besides)

    def begun() -> Turn | None:
        mine = [t for t in turns(crew) if t.offset == offset and t.worker not in others]
        return mine[0] if mine else None

    return wait_until(begun, timeout=timeout, what=f"somebody with record {offset}")


def settled(crew: Crew, offset: int, quiet: float, timeout: float = 60) -> list[Turn]:
    """All work on a record, once nobody is at it and nobody has begun it for so many seconds."""

    def over() -> list[Turn] | None:
        mine = [turn for turn in turns(crew) if turn.offset == offset]
        at_it = [turn for turn in mine if turn.ended is None]
        last = max((turn.began for turn in mine), default=time.monotonic())
        return mine if not at_it and time.monotonic() - last > quiet else None

    return wait_until(over, timeout=timeout, what=f"an end of the work on record {offset}")


def answers(crew: Crew, offset: int) -> list[list[str]]:
    """What the broker answered to each acknowledgement of a record: its errors, in turn."""
    found = [
        (event.at, event.facts["errors"])
        for worker in crew.values()
        for event in worker.events
        if event.what == "done" and event.facts["offset"] == offset
    ]
    return [errors for _, errors in sorted(found)]


def answer_to(worker: Member, offset: int, timeout: float = 60) -> list[str]:
    """The errors in the answer to this worker's acknowledgement, as soon as it has one."""
    crew = {worker.name: worker}
    return wait_until(
        lambda: answers(crew, offset) or None, timeout=timeout, what=f"an answer to {worker.name}"
    )[-1]


def overtakers(work: Sequence[Turn]) -> int:
    """How many records were done before the one with the lowest offset was."""
    first = min(work, key=lambda turn: turn.offset)
    return sum(
        turn.ended is not None and (first.ended is None or turn.ended < first.ended)
        for turn in work
    )


def seconds_of(work: Sequence[Turn]) -> float:
    """From the first beginning to the last end."""
    ends = [turn.ended for turn in work if turn.ended is not None]
    return max(ends) - min(turn.began for turn in work)
