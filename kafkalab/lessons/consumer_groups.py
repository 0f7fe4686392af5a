"""Lesson consumer_groups: who has which partition, how far behind, and without a coordinator."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from kafkalab import quick
from kafkalab.draw.drawing import MARK, PLATE, thousands
from kafkalab.members import Event, Member
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafka import KafkaConsumer

    from kafkalab.cluster.cluster import Cluster

Place = tuple[str, int]
Owners = dict[Place, str]

# A light shade for each member, in the order of their names.
SHADES = (
    *("#9CC9E8", "#F3CE7F", "#8FCFB6", "#E9C3D8", "#C9B8E4"),
    *("#F2B8A0", "#CFE3A0", "#B5D8DE", "#E3D3B8", "#D0D0D0"),
)
SECOND = 1_000_000_000


# --- Who has what -----------------------------------------------------------------------------


def owners(cluster: Cluster, topic: str, members: int, timeout: float = 60) -> Owners:
    """Partition -> client id of its reader, once a group of so many has dealt out all of a topic.

    The group has the topic's name. It is asked for at its coordinator.
    """
    partitions = len(cluster.topic(topic).partitions)

    def dealt() -> Owners | None:
        view = cluster.group(topic)
        found = {
            (topic, partition): member.client
            for member in view.members
            for partition in member.assignment.get(topic, ())
        }
        settled = view.state == "STABLE" and len(view.members) == members
        return found if settled and len(found) == partitions else None

    return wait_until(dealt, timeout=timeout, what=f"{members} members of {topic} with partitions")


def counts(names: Iterable[str], having: Owners) -> dict[str, int]:
    """How many partitions each of these members has."""
    held = list(having.values())
    return {name: held.count(name) for name in names}


def settle(
    teams: Mapping[str, Sequence[KafkaConsumer]], partitions: int, timeout: float = 60
) -> dict[str, Owners]:
    """Poll the members of several groups until each group has dealt out all its partitions.

    And all its members are in: the first that joins has everything for a moment. Team -> partition
    -> client id, as the members themselves know it.
    """

    from kafka.coordinator.base import MemberState

    def dealt() -> dict[str, Owners] | None:
        found: dict[str, Owners] = {}
        done = True
        for team, members in teams.items():
            held = []
            for member in members:
                member.poll(timeout_ms=10)
                name = member.config["client_id"]
                held += [((p.topic, p.partition), name) for p in member.assignment()]
            found[team] = dict(held)
            known = [member.group_metadata() for member in members]
            deals = {one.generation_id for one in known}
            together = len(deals) == 1 and all(one.state == MemberState.STABLE for one in known)
            done = done and together and len(held) == len(found[team]) == partitions
        return found if done else None

    return wait_until(dealt, timeout=timeout, what="partitions for each group", every=0.01)


def moved(before: Owners, after: Owners) -> list[Place]:
    """The partitions that another member has now, though the earlier one is still there."""
    there = set(after.values())
    return [p for p, name in sorted(before.items()) if name in there and after.get(p) != name]


def before_and_after(before: Mapping[str, Owners], after: Mapping[str, Owners]) -> Axes:
    """For each team its partitions by reader, in two rows; what moved without need is outlined."""
    rows, outlined = {}, {}
    for team, having in before.items():
        rows[f"{team}, before"] = having
        rows[f"{team}, after"] = after[team]
        outlined[f"{team}, after"] = moved(having, after[team])
    return who_has_what(rows, outlined)


def who_has_what(
    rows: Mapping[str, Owners], outlined: Mapping[str, Iterable[Place]] | None = None
) -> Axes:
    """A row for each state of a group, a box for each partition with the name of its reader.

    outlined: of some rows the partitions that get a thick line.
    """
    places = sorted({place for having in rows.values() for place in having})
    names = sorted({name for having in rows.values() for name in having.values()})
    shades = {name: SHADES[number % len(SHADES)] for number, name in enumerate(names)}
    several = len({topic for topic, _ in places}) > 1
    _, ax = plt.subplots(figsize=(9, 0.9 + 0.42 * len(rows)), layout="constrained")
    for row, (label, having) in enumerate(rows.items()):
        height = len(rows) - 1 - row
        thick = set((outlined or {}).get(label, ()))
        for column, place in enumerate(places):
            if (name := having.get(place)) is None:
                continue
            box = Rectangle((column + 0.03, height + 0.07), 0.94, 0.86, facecolor=shades[name])
            if place in thick:
                box.set(edgecolor="#D55E00", linewidth=2.5)
            ax.add_patch(box)
            ax.text(column + 0.5, height + 0.5, name, ha="center", va="center", fontsize=9)
    ticks = [f"{topic}\n{p}" if several else str(p) for topic, p in places]
    ax.set_xticks([column + 0.5 for column in range(len(places))], ticks)
    ax.set_yticks([len(rows) - 0.5 - row for row in range(len(rows))], list(rows))
    ax.set(xlim=(0, len(places)), ylim=(0, len(rows)), xlabel="partition")
    ax.grid(visible=False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


# --- Lag --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """Of a topic and a group at one moment: the sum of the log ends and of the commits."""

    seconds: float
    end: int
    committed: int

    @property
    def lag(self) -> int:
        return self.end - self.committed


class Story:
    """Looks at a topic and the group of its name, from now on, as often as it is told to."""

    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._cluster, self._topic = cluster, topic
        self._began = time.monotonic()
        self.seen: list[Standing] = []
        self.look()

    def look(self) -> Standing:
        """Where they stand now. What has no commit yet counts from the start."""
        ends = [one.end_offset or 0 for one in self._cluster.topic(self._topic).partitions]
        commits = self._cluster.group(self._topic).offsets
        done = sum(offset for (name, _), offset in commits.items() if name == self._topic)
        self.seen.append(Standing(time.monotonic() - self._began, sum(ends), done))
        return self.seen[-1]


def lag_over_time(story: Sequence[Standing], sent: float) -> Axes:
    """Both sums over time and the lag between them; a line at the second of the last send."""
    _, ax = plt.subplots(figsize=(8, 3.8))
    seconds = [one.seconds for one in story]
    ends, commits = [one.end for one in story], [one.committed for one in story]
    ax.fill_between(seconds, commits, ends, color="#F6D9C6")
    ax.plot(seconds, ends, color="#555555", linestyle=":", label="sent (log ends)")
    ax.plot(seconds, commits, color="#D55E00", linestyle="-", label="committed offsets")
    ax.axvline(sent, color=MARK, linewidth=1)
    beside: dict[str, Any] = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "bbox": PLATE,
    }
    ax.annotate("last send", (sent, 0.8), (4, 0), color=MARK, **beside)
    most = max(story, key=lambda one: one.lag)
    ax.annotate(f"lag {most.lag:,}", (most.seconds, 0.5), (8, 0), **beside)
    ax.set(xlabel="seconds since the first send", ylabel="records, all partitions", ylim=(0, None))
    thousands(ax.yaxis)
    ax.legend(loc="lower right")
    return ax


# --- Coordinator ------------------------------------------------------------------------------


def java_hash(text: str) -> int:
    """The 32 bits that `String.hashCode()` of Java gives, as Java writes them: with a sign."""
    units = text.encode("utf-16-be")
    number = 0
    for place in range(0, len(units), 2):
        number = (31 * number + int.from_bytes(units[place : place + 2], "big")) & 0xFFFFFFFF
    return number - (1 << 32) if number >= 1 << 31 else number


def beside_coordinator(cluster: Cluster, name: str, partitions: int = 6) -> tuple[str, int]:
    """A new topic of this name, and the broker that will coordinate a group of the topic's name.

    The topic lies on all other brokers. All faults are undone first.
    """
    from kafka import KafkaAdminClient

    cluster.mend()
    topic = cluster.unused(name)
    coordinator = cluster.coordinator(topic)
    others = [broker for broker in cluster.brokers if broker != coordinator]
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"assignments": dict.fromkeys(range(partitions), others)}})
    cluster.wait_for_topic(topic)
    return topic, coordinator


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


def longest_silence(members: Iterable[Member]) -> tuple[float, dict[str, str]]:
    """The longest time in which none of them had a record, between two others.

    Its seconds, and of each member what it had written down last in the middle of it.
    """
    team = list(members)
    at = sorted(event.at for member in team for event in records_of(member))
    began, ended = max(itertools.pairwise(at), key=lambda pair: pair[1] - pair[0])
    last = {
        member.name: [one.what for one in member.events if one.at < (began + ended) / 2][-1]
        for member in team
    }
    return (ended - began) / SECOND, last


def records_over_time(members: Sequence[Member], killed_at: int, what: str) -> Axes:
    """How many records each member has had, over the seconds around a fault."""
    _, ax = plt.subplots(figsize=(8, 3.8))
    for member in members:
        at = [(event.at - killed_at) / SECOND for event in records_of(member)]
        ax.step(at, range(1, len(at) + 1), where="post", label=member.name)
    ax.axvline(0, color=MARK, linewidth=1)
    ax.annotate(
        what, (0, 1), (4, -12), xycoords=("data", "axes fraction"), textcoords="offset points",
        color=MARK, bbox=PLATE,
    )  # fmt: skip
    ax.set(xlabel="seconds since then", ylabel="records of each member", ylim=(0, None))
    thousands(ax.yaxis)
    ax.legend(loc="lower right")
    return ax


# --- What the checks of the exercises say -------------------------------------------------------


def wrong_coordinator(told: Any, brokers: Iterable[int], right: int) -> str:
    """What is not right yet of the id of a coordinator."""
    if told == right:
        return ""
    if told not in set(brokers):
        return f"{told!r} is no broker of this cluster."
    return f"broker {told} says that it is another one."


def wrong_lag(told: Any, right: Mapping[int, int]) -> str:
    """What is not right yet of partition -> lag."""
    if told == dict(right):
        return ""
    if not isinstance(told, dict) or set(told) != set(right):
        return f"it should have the partitions {sorted(right)} as keys."
    wrong = [p for p in sorted(right) if told[p] != right[p]]
    return f"the brokers say otherwise of partition {', '.join(map(str, wrong))}."
