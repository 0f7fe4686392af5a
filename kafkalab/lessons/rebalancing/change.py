"""A change in groups, and how long their partitions stood still: from the members' own events."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafkalab.lessons.rebalancing.having import Having, Team, having, settled, told_since
from kafkalab.members import Event, Member
from kafkalab.members.events import NANOSECONDS
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


@dataclass(frozen=True)
class Read:
    """A record that a member had: `at` in monotonic nanoseconds."""

    at: int
    member: str
    partition: int


@dataclass
class GroupChange:
    """Something that happened to several groups at once. What it did is known after its `with`.

    By group: `before` and `after`, partition -> reader; `busy`, who had their hands full.
    """

    what: str
    began: int
    ended: int = 0
    before: dict[str, Having] = field(default_factory=dict)
    after: dict[str, Having] = field(default_factory=dict)
    busy: dict[str, set[str]] = field(default_factory=dict)
    records: dict[str, list[Read]] = field(default_factory=dict)
    started: dict[str, dict[str, int]] = field(default_factory=dict)  # newcomers, and when

    def stood(self, group: str) -> dict[int, float]:
        """Partition -> the longest time, in seconds, without a record of it in the group."""
        return {
            partition: max(
                later.at - earlier.at
                for earlier, later in itertools.pairwise(self.of(group, partition))
            )
            / NANOSECONDS
            for partition in sorted(self.before[group])
        }

    def of(self, group: str, partition: int) -> list[Read]:
        """The records of one partition around the change, in the order of time."""
        return [one for one in self.records[group] if one.partition == partition]

    def moved(self, group: str) -> list[int]:
        """The partitions that have another reader now."""
        before, after = self.before[group], self.after[group]
        return [p for p in sorted(before) if before[p] != after[p]]

    def story(self, group: str) -> str:
        """What moved in a group, from whom to whom, how long it stood, and who was busy."""
        before, after, stood = self.before[group], self.after[group], self.stood(group)
        moves = [
            f"partition {p} from {before[p]} to {after[p]}, stood {stood[p]:.1f} s"
            for p in self.moved(group)
        ]
        busy = ", ".join(sorted(self.busy[group])) or "nobody"
        return f"{group}: {'; '.join(moves) or 'nothing moved'} (busy: {busy})"

    def of_busy(self, group: str) -> list[int]:
        """The partitions of the readers that had their hands full: the work alone stops these."""
        return [p for p, name in sorted(self.before[group].items()) if name in self.busy[group]]

    def standing_of_others(self, group: str, seconds: float) -> list[int]:
        """The partitions of readers with free hands that stood still for so long, or longer."""
        stood, busy = self.stood(group), self.of_busy(group)
        return [p for p in sorted(stood) if p not in busy and stood[p] >= seconds]

    def longest(self, group: str, partitions: Iterable[int]) -> float:
        """The longest silence, in seconds, of any of these partitions; NaN where there is none."""
        stood = self.stood(group)
        return max((stood[p] for p in partitions), default=float("nan"))

    def stood_of(self, group: str, name: str) -> float:
        """The longest silence of a partition that this reader had before."""
        his = [p for p, reader in self.before[group].items() if reader == name]
        return self.longest(group, his)

    def kept(self, group: str) -> list[int]:
        """The partitions that have their reader still, without those of the busy ones."""
        others = {*self.moved(group), *self.of_busy(group)}
        return [p for p in sorted(self.before[group]) if p not in others]


@contextmanager
def change(
    teams: Mapping[str, Team],
    what: str,
    *,
    crowd: Member,
    members: int,
    timeout: float = 60,
) -> Iterator[GroupChange]:
    """What happens inside; it ends when in each group so many have partitions, and all flow again.

    The crowd sends records all the time, or nobody could tell a partition that stands still from
    one that has nothing. It is frozen before and after: no records come while somebody reads a
    page. The teams may get members inside.
    """
    before = {title: having(team) for title, team in teams.items()}
    first = {title: list(team.items()) for title, team in teams.items()}
    crowd.thaw()
    try:
        _wait_for_flow(before, teams, timeout)
        found = GroupChange(what, time.monotonic_ns(), before=before)
        yield found
        partitions = max(len(held) for held in before.values())
        found.after = settled(teams, members=members, partitions=partitions, timeout=timeout)
        _wait_for_flow(found.after, teams, timeout)
        found.ended = time.monotonic_ns()
    finally:
        if crowd.state == "running":
            crowd.freeze()
    for title, team in teams.items():
        # With those whose place somebody else of their name has taken: they read, too.
        everybody = [*team.items(), *(one for one in first[title] if one[1] is not team[one[0]])]
        found.records[title] = _around(_reads(everybody), found.began)
        found.started[title] = {
            name: event.at
            for name, member in team.items()
            for event in member.events
            if event.what == "started" and event.at > found.began
        }
        found.busy[title] = set(_works(team, found.began))


def fill_up(
    teams: Mapping[str, dict[str, Member]],
    start: Callable[[str, str], Member],
    *,
    members: int,
    partitions: int,
    without: Sequence[str] = (),
) -> None:
    """Start by name and group whoever does not run, as after a cell that has broken them.

    And end those `without` whom it is to begin: an earlier run of the cell has left them.
    """
    for team in teams.values():
        for name in [one for one in without if one in team]:
            team.pop(name).stop()
    away = [
        (title, name)
        for title, team in teams.items()
        for name, member in team.items()
        if member.state != "running"
    ]
    for title, name in away:  # all before the first comes: who leaves amid a deal delays it
        teams[title][name].stop()
    for title, name in away:
        teams[title][name] = start(name, title)
    settled(teams, members=members, partitions=partitions)


def _wait_for_flow(owners: Mapping[str, Having], teams: Mapping[str, Team], timeout: float) -> None:
    """Until each partition has had a record from its reader since this moment."""
    now = time.monotonic_ns()

    def standing() -> list[tuple[str, int]]:
        return [
            (title, partition)
            for title, held in owners.items()
            for partition, name in held.items()
            if not _has_read(teams[title][name].events, partition, now)
        ]

    wait_until(
        lambda: not standing(), timeout=timeout, what="a record of each partition", seen=standing
    )


def wait_for_work(teams: Mapping[str, Team], moment: int, timeout: float = 30) -> None:
    """Until somebody of each team has had their hands full since this moment."""
    wait_until(
        lambda: all(_works(team, moment) for team in teams.values()),
        timeout=timeout,
        what="somebody at work in each group",
    )


def wait_for_members(
    cluster: Cluster, groups: Iterable[str], members: int, timeout: float = 60
) -> None:
    """Until the coordinator counts so many in each group; they need not have partitions yet."""
    names = list(groups)

    def counts() -> dict[str, int]:
        return {name: len(cluster.group(name).members) for name in names}

    wait_until(
        lambda: set(counts().values()) == {members},
        timeout=timeout,
        what=f"{members} members in each of {len(names)} groups",
        seen=counts,
    )


def let_go(
    teams: Mapping[str, Team], group: str, seconds: float, since: int, timeout: float = 60
) -> None:
    """End the work in all teams, so long after the last of a group has given partitions back.

    And so long after the call, at least. Whoever is at work cannot give back, and need not.
    """
    called = time.monotonic_ns()
    old = [one for one in teams[group].values() if one.events and one.events[0].at < since]
    idle = [one for one in old if not told_since(one, since, "works")]

    def over() -> bool:
        given_back = [
            max((e.at for e in one.events if e.what == "revoked" and e.at > since), default=0)
            for one in idle
        ]
        over_since = max(called, *given_back) + seconds * NANOSECONDS
        return all(given_back) and time.monotonic_ns() >= over_since

    wait_until(over, timeout=timeout, what=f"{seconds:g} s after the others gave back")
    for team in teams.values():
        for name in _works(team, since):
            team[name].let_go()


def _works(team: Team, since: int) -> list[str]:
    return [name for name, member in team.items() if told_since(member, since, "works")]


def reads(team: Team) -> list[Read]:
    """What the members of a team have read, in the order of time."""
    return _reads(team.items())


def _reads(members: Iterable[tuple[str, Member]]) -> list[Read]:
    found = [
        Read(event.at, name, event.facts["partition"])
        for name, member in members
        for event in member.events
        if event.what == "record"
    ]
    return sorted(found, key=lambda one: one.at)


def _has_read(events: list[Event], partition: int, since: int) -> bool:
    later = itertools.takewhile(lambda event: event.at > since, reversed(events))
    return any(one.what == "record" and one.facts["partition"] == partition for one in later)


def _around(every: list[Read], began: int) -> list[Read]:
    """Those after a moment, and of each partition the last one before it."""
    last = {one.partition: one for one in every if one.at <= began}
    return [*sorted(last.values(), key=lambda one: one.at), *(o for o in every if o.at > began)]
