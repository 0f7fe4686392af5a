"""What can be asked of a cluster, and what can be waited for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any

from kafkalab.cluster import replicas, segments, wire
from kafkalab.cluster.glance import Glance, glance
from kafkalab.cluster.replicas import Copies
from kafkalab.cluster.segments import Batch, Segment
from kafkalab.cluster.survey import BROKER, LATEST, UNSETTLED, NoTopic, NotYet, Survey
from kafkalab.cluster.views import Configs, GroupView, QuorumView, TopicView
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until


class Observed(ABC):
    """The reading half of `Cluster`. Every view is fresh; none of them changes anything."""

    @property
    @abstractmethod
    def brokers(self) -> list[int]:
        """The ids of the brokers that the profile describes, alive or not."""

    @abstractmethod
    def _reachable(self) -> Mapping[int, str]:
        """Addresses of the brokers that may answer, the likeliest to know most first."""

    @abstractmethod
    def _storage(self, broker: int, part: str) -> Path | None:
        """The folder with a broker's log folders, of which `part` is wanted, or None."""

    @cached_property
    def _survey(self) -> Survey:
        return Survey(self._reachable)

    # --- Views ---------------------------------------------------------------------------------

    def topics(self, internal: bool = False) -> list[str]:
        """The names of all topics; Kafka's own only when asked for."""
        return self._survey.topics(internal)

    def topic(self, name: str) -> TopicView:
        return self._survey.topic(name)

    def unused(self, name: str) -> str:
        """The name, or `name-2`, `name-3`, … where there is such a topic already.

        With it a cell that fills a topic can be run again: it gets an empty one.
        """
        taken = self.topics(internal=True)
        names = chain([name], (f"{name}-{number}" for number in count(2)))
        return next(free for free in names if free not in taken)

    def groups(self) -> dict[str, str]:
        """Name -> state of every group."""
        return self._survey.groups()

    def group(self, name: str) -> GroupView:
        return self._survey.group(name)

    def quorum(self) -> QuorumView:
        return self._survey.quorum()

    def broker_configs(self, broker: int) -> Configs:
        """Every setting that is in force on a broker."""
        return self._survey.configs(BROKER, str(broker))

    def glance(self) -> Glance:
        """Brokers, partitions and groups as they are told at this moment; waits for nothing."""
        return glance(self._survey)

    def segments(self, topic: str, partition: int, broker: int | None = None) -> list[Segment]:
        """The segment files of one replica, from the disk; of the leader unless told otherwise."""
        return segments.segments(self._partition_folder(topic, partition, broker))

    def batches(self, topic: str, partition: int, broker: int | None = None) -> list[Batch]:
        """The batches of one replica, from the disk. Works while the broker is down."""
        return segments.batches(self._partition_folder(topic, partition, broker))

    def copies(self, topic: str, partition: int = 0) -> Copies:
        """What each broker's disk holds of a partition; no broker has to run for it."""
        found = Copies()
        for broker in self.brokers:
            folder = self._folder(broker, topic, partition)
            if folder is not None:
                copy = replicas.copy_of(broker, folder)
                notes = self._storage(broker, replicas.NOTES)
                if notes is not None:
                    noted = replicas.noted_high_watermark(notes, topic, partition)
                    copy = replace(copy, high_watermark=noted)
                found[broker] = copy
        return found

    def log_ends(self, topic: str, partition: int = 0) -> dict[int, int]:
        """Broker -> log end offset of its replica, from the disk."""
        return self.copies(topic, partition).ends

    # --- Waits ---------------------------------------------------------------------------------

    def wait_for_brokers(self, ids: Iterable[int] | None = None, timeout: float = 30) -> None:
        """Until the living brokers are exactly these (all of the profile, unless told otherwise).

        Each of them must say so itself. A broker that was killed counts as living until the
        controller has missed its heartbeats for long enough and fences it.
        """
        wanted = set(self.brokers if ids is None else ids)
        self._wait_for_agreement(wanted, lambda alive: alive == wanted, timeout)

    def wait_for_topic(self, name: str, timeout: float = 15, partitions: int | None = None) -> None:
        """Until every living broker knows this topic and a leader of each of its partitions.

        And until no leader says that it does not act as one yet: it opens its logs a moment after
        it has heard that it leads. With `partitions`, until each broker knows so many: for a topic
        that was given more.
        """
        doubt = ["no broker answered"]

        def known() -> bool:
            reachable, ids = self._reachable(), set()
            for broker in wire.brokers(self._survey.ask_metadata([])):
                if broker not in reachable:
                    continue
                (topic,) = wire.metadata(reachable[broker], [name]).topics
                leaders = [p.leader_id for p in topic.partitions]
                too_few = partitions is not None and len(leaders) != partitions
                if topic.error_code or not leaders or min(leaders) < 0 or too_few:
                    doubt[0] = f"broker {broker} knows the leaders {leaders}"
                    return False
                ids.add(topic.topic_id)
            # A topic that was deleted and made again has another id.
            doubt[0] = f"brokers know {len(ids)} topics of this name"
            if len(ids) != 1:
                return False
            doubt[0] = "a leader does not act as one yet"
            places = [(name, p.partition_index) for p in topic.partitions]
            return not self._survey.offsets_now(places, LATEST)[1]

        wait_until(
            known,
            timeout=timeout,
            what=f"the topic {name}",
            seen=lambda: doubt[0],
            not_yet=UNSETTLED,
        )

    def wait_for_leader(
        self,
        topic: str,
        partition: int,
        among: Collection[int] | None = None,
        timeout: float = 30,
    ) -> int:
        """Until the partition has a leader (one of `among`) that acts as one; returns its id."""

        def leader() -> int:
            found = self._partitions(topic)[partition].leader_id
            if found < 0 or (among is not None and found not in among):
                raise NotYet(f"the leader is {found if found >= 0 else 'nobody'}")
            # It is elected before it knows; what it answers about its log tells that it does.
            told, _ = self._survey.offsets_now([(topic, partition)], LATEST)
            if not told:
                raise NotYet(f"leader {found} does not act as one yet")
            return int(found)

        wanted = "" if among is None else f" among {sorted(among)}"
        what = f"a leader of {topic} {partition}{wanted}"
        return wait_until(leader, timeout=timeout, what=what, not_yet=UNSETTLED)

    def wait_for_isr(self, topic: str, size: int, timeout: float = 30) -> None:
        """Until every partition of the topic has exactly this many in-sync replicas."""
        seen: dict[int, list[int]] = {}

        def reached() -> bool:
            seen.update({n: list(p.isr_nodes) for n, p in self._partitions(topic).items()})
            return all(len(isr) == size for isr in seen.values())

        wait_until(
            reached,
            timeout=timeout,
            what=f"{size} in-sync replicas of each partition of {topic}",
            seen=lambda: "; ".join(f"partition {n}: {isr}" for n, isr in seen.items()),
            not_yet=UNSETTLED,
        )

    def wait_for_setting(self, name: str, value: str, timeout: float = 15) -> None:
        """Until this setting has this value on every broker, after a change in the running ones."""
        wait_until(
            lambda: all(self.broker_configs(b)[name].value == value for b in self.brokers),
            timeout=timeout,
            what=f"{name}={value} on every broker",
            seen=lambda: "; ".join(
                f"broker {b}: {self.broker_configs(b)[name].value}" for b in self.brokers
            ),
        )

    def wait_for_markers(self, timeout: float = 15) -> None:
        """Until every transaction that was committed or aborted has its markers.

        A producer hears of the decision, and goes on, before these are written.
        """
        wait_until(
            lambda: not self._survey.ending_transactions(),
            timeout=timeout,
            what="the markers of transactions",
            seen=lambda: ", ".join(self._survey.ending_transactions()) or "none is missing now",
            not_yet=UNSETTLED,
        )

    def wait_for_group(
        self,
        group: str,
        state: str = "STABLE",
        members: int | None = None,
        timeout: float = 30,
    ) -> GroupView:
        """Until the group is in this state, with this many members."""
        last: list[GroupView] = []

        def reached() -> GroupView | None:
            last[:] = [view := self._survey.group_now(group)]
            fits = view.state == state.upper() and members in (None, len(view.members))
            return view if fits else None

        count = "" if members is None else f" with {members} members"
        return wait_until(
            reached,
            timeout=timeout,
            what=f"the group {group} to be {state.upper()}{count}",
            seen=lambda: (
                f"{last[0].state} with {len(last[0].members)} members" if last else "no answer"
            ),
            not_yet=UNSETTLED,
            mend="A consumer joins its group while it polls.",
        )

    def _wait_for_agreement(
        self, of: Collection[int], fits: Callable[[set[int]], bool], timeout: float
    ) -> None:
        """Until each of these brokers answers with a set of living brokers that fits."""
        doubts = dict.fromkeys(sorted(of), "not asked")

        def agreed() -> bool:
            for broker in list(doubts):
                address = self._reachable().get(broker)
                if address is None:
                    doubts[broker] = "stands still"
                    continue
                try:
                    alive = set(wire.brokers(wire.metadata(address, [], timeout=1)))
                except UNSETTLED as error:
                    doubts[broker] = str(error).splitlines()[0]
                    continue
                if fits(alive):
                    del doubts[broker]
                else:
                    doubts[broker] = f"knows of {sorted(alive)}"
            return not doubts

        wait_until(
            agreed,
            timeout=timeout,
            what=f"the brokers {', '.join(map(str, sorted(of)))}",
            seen=lambda: "; ".join(f"broker {b}: {why}" for b, why in doubts.items()),
            every=0.02,
        )

    def _partitions(self, topic: str) -> dict[int, Any]:
        try:
            described = self._survey.describe_now(topic)
        except NoTopic:
            raise NotYet(f"there is no topic {topic}") from None
        return {p.partition_index: p for p in described.partitions}

    def _partition_folder(self, topic: str, partition: int, broker: int | None) -> Path:
        """Of one broker, or of the leader, or of whoever has a replica."""
        if broker is not None:
            candidates = [broker]
        else:
            candidates = sorted(self.brokers, key=lambda b: b != self._leader(topic, partition))
        for candidate in candidates:
            folder = self._folder(candidate, topic, partition)
            if folder is not None:
                return folder
        who = "No broker has a" if broker is None else f"Broker {broker} has no"
        raise CourseError(f"{who} replica of {topic} {partition} on its disk.")

    def _folder(self, broker: int, topic: str, partition: int) -> Path | None:
        storage = self._storage(broker, f"{topic}-{partition}")
        return None if storage is None else segments.partition_folder(storage, topic, partition)

    def _leader(self, topic: str, partition: int) -> int | None:
        try:
            return int(self._partitions(topic)[partition].leader_id)
        except (*UNSETTLED, KeyError):
            return None
