"""A program that charges payments, is killed once at a chosen point, and begins again."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafkalab.lessons.offsets.runs import Point, ProgramRun, end_of, run_all
from kafkalab.members import Event

if TYPE_CHECKING:
    from kafka import TopicPartition

    from kafkalab.cluster.cluster import Cluster


@dataclass(frozen=True)
class Fate:
    """What two programs did, one after the other: the first was killed, the second ended.

    `committed` are the committed offsets that the first one saw, each time it was ready and
    when it died.
    """

    how: str
    point: Point
    end: int
    charged: tuple[list[int], list[int]]
    committed: list[int | None]

    @property
    def twice(self) -> list[int]:
        """The offsets that were charged more than once."""
        times = Counter(itertools.chain(*self.charged))
        return sorted(offset for offset, number in times.items() if number > 1)

    @property
    def never(self) -> list[int]:
        """The offsets that were not charged, though the second program read to the end."""
        return sorted(set(range(self.end)) - set(itertools.chain(*self.charged)))

    def __repr__(self) -> str:
        first, second = ("-".join(_ends(offsets)) or "none" for offsets in self.charged)
        return (
            f"first run {first}, second {second}: twice {len(self.twice)}, never {len(self.never)}"
        )


class Desk:
    """Where programs are tried on the payments of one partition, each with a group of its own."""

    # Of all desks: one that is made anew, by a cell that is run again, goes on counting.
    _numbers = itertools.count(1)

    def __init__(
        self, cluster: Cluster, place: TopicPartition, settings: Mapping[str, Any]
    ) -> None:
        self._cluster = cluster
        self._place = place
        self._settings = dict(settings)

    def killed(self, program: str, point: Point, how: str = "", **settings: Any) -> Fate:
        """Run the program, which is killed at that point, with a new group; then run it again."""
        (trial,) = self.all_killed({how: (program, settings)}, [point])
        return trial

    def all_killed(
        self, programs: Mapping[str, tuple[str, Mapping[str, Any]]], points: Iterable[Point]
    ) -> list[Fate]:
        """Each program, with settings of its own, killed at each of the points."""
        pairs = list(itertools.product(programs, points))
        end = end_of(self._cluster, self._place)
        runs = []
        for how, point in pairs:
            text, settings = programs[how]
            given = {
                "address": self._cluster.address,
                "group": f"{self._place.topic} {next(self._numbers)}",
                "place": self._place,
                "end": end,
                "settings": self._settings | dict(settings),
            }
            runs += [ProgramRun(text, point, given), ProgramRun(text, given=given)]
        noted = run_all(self._cluster, f"desk of {self._place.topic}", runs).events()
        return [
            Fate(
                how,
                point,
                end,
                (_charged(first), _charged(second)),
                [event.facts["committed"] for event in first if event.what == "at"],
            )
            for (how, point), first, second in zip(pairs, noted[::2], noted[1::2], strict=True)
        ]


def _charged(events: Iterable[Event]) -> list[int]:
    return [event.facts["offset"] for event in events if event.what == "charged"]


def _ends(offsets: list[int]) -> list[str]:
    return [str(offset) for offset in dict.fromkeys((offsets[0], offsets[-1]))] if offsets else []
