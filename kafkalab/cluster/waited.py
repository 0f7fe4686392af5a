"""What can be waited for in a cluster: each wait is for a condition, and has a deadline."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable

from kafkalab.cluster import wire
from kafkalab.cluster.asking import UNSETTLED, NotYet
from kafkalab.cluster.observed import Observed
from kafkalab.cluster.survey import LATEST, TOPIC
from kafkalab.cluster.views import GroupView
from kafkalab.wait import WaitTimeout, wait_until

# Who asks a node that starts takes the processor from it: fifty questions a second made it start
# a quarter later.
WHILE_IT_STARTS = 0.1  # seconds between two questions
# Seconds, in which a controller writes six times; one that is gone writes nothing.
NEWER_METADATA = 3


class Waited(Observed):
    """The waiting part of `Cluster`. Each raises a WaitTimeout that says what was there instead.

    Times are seconds.
    """

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
        """Until every partition of the topic has exactly this many in-sync replicas.

        Where these are fewer than the topic's minimum, until its leaders refuse what wants them.
        """
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
        minimum = self._survey.configs(TOPIC, topic)["min.insync.replicas"].value
        if size < int(minimum or 1):
            self._wait_until_leaders_act(topic, size)

    def _wait_until_leaders_act(self, topic: str, size: int) -> None:
        """Until each leader has acted on it that so many are in sync.

        A broker shows new metadata, then carries it to its partitions (BrokerMetadataPublisher).
        What is sent in between to one that falls below its minimum is written, and not answered
        until its request's time is up, nor is what its connection brings later. Brokers do one
        change after the other, so what was shown is done when a newer one is shown. The controller
        writes one each half second, if only to say that it lives; without it nothing is on its way.
        """
        shown: dict[int, int] = {}

        def acted() -> bool:
            reachable = self._reachable()
            leaders = {p.leader_id for p in self._partitions(topic).values()} & set(reachable)
            for leader in leaders - set(shown):
                told = self._survey.describe_now(topic, reachable[leader]).partitions
                if all(len(p.isr_nodes) == size for p in told if p.leader_id == leader):
                    shown[leader] = wire.metadata_offset(reachable[leader])
            return all(
                leader in shown and wire.metadata_offset(reachable[leader]) > shown[leader]
                for leader in leaders
            )

        with contextlib.suppress(WaitTimeout):
            wait_until(acted, timeout=NEWER_METADATA, what="newer metadata", not_yet=UNSETTLED)

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
        self,
        of: Collection[int],
        fits: Callable[[set[int]], bool],
        timeout: float,
        every: float = 0.02,
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
            every=every,
        )
