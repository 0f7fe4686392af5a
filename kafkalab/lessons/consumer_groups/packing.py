"""What members did, as they wrote it down: records, silences, and what they were given."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from kafkalab import quick
from kafkalab.draw.drawing import MARK, PLATE, thousands
from kafkalab.lessons.consumer_groups.dealing import owners
from kafkalab.members import Event, Member, start
from kafkalab.members.events import NANOSECONDS
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


LIMIT = 7_200  # seconds


@dataclass(frozen=True)
class Silence:
    """A time in which none of some members had a record: when, in monotonic ns.

    last: of each member what it had written down last in the middle of it.
    """

    began: int
    ended: int
    last: dict[str, str]

    @property
    def seconds(self) -> float:
        return (self.ended - self.began) / NANOSECONDS


def hire(lines: str, names: Iterable[str], cluster: Cluster, topic: str) -> dict[str, Member]:
    """A member for each name, which runs these lines beside the cells.

    It lasts for two hours, so that none ends while somebody reads. `settings` are the quick ones,
    but for `request_timeout_ms`, which is as by default: so long does a commit try to find a
    coordinator.
    """
    settings = {key: value for key, value in quick.consumer.items() if key != "request_timeout_ms"}
    given: dict[str, Any] = {"address": cluster.address, "topic": topic, "settings": settings}
    given["limit"] = LIMIT
    return {name: start(lines, name, **given) for name in names}


def rehire(lines: str, team: dict[str, Member], cluster: Cluster, topic: str) -> None:
    """Those of the team that have ended are hired again, in their places.

    It returns when the group of the topic's name has dealt out all partitions to the whole team.
    """
    ended = [name for name, member in team.items() if member.state == "ended"]
    team.update(hire(lines, ended, cluster, topic))
    owners(cluster, topic, len(team))


def packed_since(members: Iterable[Member], moment: int) -> int:
    """How many different records they have had together since this moment, in monotonic ns."""
    return len(
        {
            (event.facts["partition"], event.facts["offset"])
            for member in members
            for event in records_of(member)
            if event.at > moment
        }
    )


def share_in_commits(members: Iterable[Member], moment: int) -> float:
    """Of the time between their first and last record since then, how much `commit` took.

    A commit lasts from its event `commits` to what the member wrote down next.
    """
    whole = committing = 0
    for member in members:
        events = [event for event in member.events if event.at > moment]
        at = [event.at for event in events if event.what == "record"]
        if len(at) > 1:
            whole += at[-1] - at[0]
            committing += sum(
                after.at - event.at
                for event, after in itertools.pairwise(events)
                if event.what == "commits" and after.at <= at[-1]
            )
    return committing / whole if whole else 0.0


def wait_for_records(members: Iterable[Member], number: int, timeout: float = 90) -> None:
    """Until the members have had so many records together."""
    team = list(members)
    wait_until(
        lambda: sum(len(records_of(member)) for member in team) >= number,
        timeout=timeout,
        what=f"{number:,} records",
        seen=lambda: ", ".join(map(repr, team)),
    )


def records_of(member: Member) -> list[Event]:
    """The events `record` of a member, in the order of time."""
    return [event for event in member.events if event.what == "record"]


def dealt_since(members: Iterable[Member], moment: int) -> int:
    """How many of them were told of partitions after this moment, in monotonic ns."""
    return sum(
        any(event.what == "assigned" and event.at > moment for event in member.events)
        for member in members
    )


def longest_silence(members: Iterable[Member]) -> Silence:
    """The longest time in which none of them had a record, between two others."""
    team = list(members)
    at = sorted(event.at for member in team for event in records_of(member))
    began, ended = max(itertools.pairwise(at), key=lambda pair: pair[1] - pair[0])
    last = {
        member.name: [one.what for one in member.events if one.at < (began + ended) / 2][-1]
        for member in team
    }
    return Silence(began, ended, last)


def records_over_time(members: Iterable[Member], killed_at: int, broker: int) -> Axes:
    """How many records each member has had, over the seconds around the kill of a broker."""
    _, ax = plt.subplots(figsize=(8, 3.8))
    # Not all lines are whole: those that lie on one another are seen.
    for member, style in zip(members, itertools.cycle(["-", "--", ":"])):
        at = [(event.at - killed_at) / NANOSECONDS for event in records_of(member)]
        ax.step(at, range(1, len(at) + 1), where="post", label=member.name, linestyle=style)
    ax.axvline(0, color=MARK, linewidth=1)
    ax.annotate(
        f"broker {broker} killed", (0, 1), (4, -12), xycoords=("data", "axes fraction"),
        textcoords="offset points", color=MARK, bbox=PLATE,
    )  # fmt: skip
    ax.set(xlabel="seconds since the kill", ylabel="records of each member", ylim=(0, None))
    thousands(ax.yaxis)
    ax.legend(loc="lower right")
    return ax
