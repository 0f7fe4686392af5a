"""What a crew of workers did with the records of one partition, as they wrote it down."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalab.members import Event, Member
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

SECOND = 1_000_000_000

Crew = Mapping[str, Member]


@dataclass(frozen=True)
class Piece:
    """A worker's work on one record, in seconds of the machine's clock.

    `ended` is None where it never came to an end. `tries` counts the deliveries of the record up
    to this one, as the broker says; 0 in a group that does not count them.
    """

    worker: str
    offset: int
    began: float
    ended: float | None
    tries: int = 0


def ready(cluster: Cluster, group: str, members: int, timeout: float = 60) -> None:
    """Until a group of either kind has so many members, and nothing is left to deal out."""

    def dealt() -> bool:
        view = cluster.group(group)
        having = [member for member in view.members if member.assignment]
        enough = members if view.type == "share" else 1
        return view.state == "STABLE" and len(view.members) == members and len(having) >= enough

    wait_until(dealt, timeout=timeout, what=f"{members} members of {group}")


def pieces(crew: Crew) -> list[Piece]:
    """All that the crew worked on, in the order in which it was begun."""
    work = [piece for name, worker in crew.items() for piece in _pieces(name, worker.events)]
    return sorted(work, key=lambda piece: piece.began)


def by_worker(work: Iterable[Piece]) -> dict[str, list[Piece]]:
    """The same by worker, who are in the order of their names; who had none is left out."""
    found: dict[str, list[Piece]] = {}
    for piece in work:
        found.setdefault(piece.worker, []).append(piece)
    return dict(sorted(found.items()))


def dead(crew: Crew) -> list[str]:
    """The names of those whose program has ended."""
    return [name for name, worker in crew.items() if worker.state == "ended"]


def _pieces(name: str, events: Sequence[Event]) -> list[Piece]:
    found: list[Piece] = []
    for event in events:
        at = event.at / SECOND
        if event.what == "begins":
            found.append(Piece(name, event.facts["offset"], at, None, event.facts.get("tries", 0)))
        elif event.what == "done":
            found[-1] = replace(found[-1], ended=at)
    return found


def wait_for_films(crew: Crew, offsets: Iterable[int], timeout: float = 60) -> list[Piece]:
    """What the crew did on these records, once each of them has been done."""
    wanted = set(offsets)

    def all_done() -> list[Piece] | None:
        done = [p for p in pieces(crew) if p.offset in wanted and p.ended is not None]
        return done if {piece.offset for piece in done} == wanted else None

    return wait_until(
        all_done, timeout=timeout, what=f"{len(wanted)} films", seen=lambda: list(crew.values())
    )


def holder(crew: Crew, offset: int, *, besides: Iterable[str] = (), timeout: float = 60) -> Piece:
    """The first work on a record, by anybody or by none of these, as soon as it is begun."""
    others = set(besides)

    def begun() -> Piece | None:
        mine = [p for p in pieces(crew) if p.offset == offset and p.worker not in others]
        return mine[0] if mine else None

    return wait_until(begun, timeout=timeout, what=f"somebody with record {offset}")


def settled(crew: Crew, offset: int, quiet: float, timeout: float = 60) -> list[Piece]:
    """All work on a record, once nobody is at it and nobody has begun it for so many seconds."""

    def over() -> list[Piece] | None:
        mine = [piece for piece in pieces(crew) if piece.offset == offset]
        at_it = [piece for piece in mine if piece.ended is None]
        last = max((piece.began for piece in mine), default=time.monotonic())
        return mine if not at_it and time.monotonic() - last > quiet else None

    return wait_until(over, timeout=timeout, what=f"an end of the work on record {offset}")


def answers(crew: Crew, offset: int) -> list[list[str]]:
    """What the broker answered to each acknowledgement of a record: its errors, in turn."""
    found: list[tuple[int, list[str]]] = []
    for worker in crew.values():
        held = None
        for event in worker.events:
            held = event.facts["offset"] if event.what == "begins" else held
            if event.what == "told" and held == offset:
                found.append((event.at, event.facts["errors"]))
    return [errors for _, errors in sorted(found)]


def answer_to(worker: Member, offset: int, timeout: float = 60) -> list[str]:
    """The errors in the answer to this worker's acknowledgement, as soon as it has one."""
    crew = {worker.name: worker}
    return wait_until(
        lambda: answers(crew, offset) or None, timeout=timeout, what=f"an answer to {worker.name}"
    )[-1]


def overtakers(work: Sequence[Piece]) -> int:
    """How many records were done before the one with the lowest offset was."""
    first = min(work, key=lambda piece: piece.offset)
    return sum(
        piece.ended is not None and (first.ended is None or piece.ended < first.ended)
        for piece in work
    )


def seconds_of(work: Sequence[Piece]) -> float:
    """From the first beginning to the last end."""
    ends = [piece.ended for piece in work if piece.ended is not None]
    return max(ends) - min(piece.began for piece in work)
