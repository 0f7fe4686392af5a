"""What the living brokers of a cluster tell of it now."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from kafka.errors import for_code
from kafka.protocol.admin import (
    DescribeConfigsRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
    DescribeTopicPartitionsRequest,
    ListGroupsRequest,
    ListTransactionsRequest,
)
from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest
from kafka.protocol.metadata import FindCoordinatorRequest

from kafkalab.cluster import groups, wire
from kafkalab.cluster.asking import UNSETTLED, Asking, NoTopic, NotYet, accept
from kafkalab.cluster.views import (
    Configs,
    ConfigValue,
    GroupView,
    MemberView,
    PartitionView,
    QuorumView,
    ReplicaView,
    TopicView,
)
from kafkalab.wait import WaitTimeout, wait_until

Place = tuple[str, int]
Leaders = Mapping[Place, int]

TOPIC, BROKER = 2, 4
EARLIEST, LATEST = -2, -1
SOURCES = {
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
    8: "GROUP_CONFIG",
}


class Survey(Asking):
    """What the brokers tell of topics, groups, transactions, settings and the quorum."""

    def topics(self, internal: bool = False) -> list[str]:
        answer = self._settled("the list of topics", lambda: self.ask_metadata(None))
        return sorted(t.name for t in answer.topics if internal or not t.is_internal)

    def topic(self, name: str) -> TopicView:
        try:
            described = self._settled(f"the topic {name}", lambda: self.describe_now(name))
        except NoTopic as error:
            there = ", ".join(self.topics()) or "no topics"
            raise NoTopic(error.what, f"The cluster has {there}.") from None
        leaders = {(name, p.partition_index): int(p.leader_id) for p in described.partitions}
        starts, ends = self.offsets(leaders, EARLIEST, LATEST, leaders=leaders)
        return TopicView(
            name=name,
            id=str(described.topic_id),
            partitions=[
                PartitionView(
                    partition=p.partition_index,
                    leader=p.leader_id if p.leader_id >= 0 else None,
                    leader_epoch=p.leader_epoch,
                    replicas=list(p.replica_nodes),
                    isr=list(p.isr_nodes),
                    elr=list(p.eligible_leader_replicas or ()),
                    last_known_elr=list(p.last_known_elr or ()),
                    start_offset=starts[name, p.partition_index],
                    end_offset=ends[name, p.partition_index],
                )
                for p in sorted(described.partitions, key=lambda p: p.partition_index)
            ],
            configs=self.configs(TOPIC, name),
        )

    def offsets(
        self, places: Iterable[Place], *timestamps: int, leaders: Leaders = MappingProxyType({})
    ) -> list[dict[Place, int | None]]:
        """The first or last offsets of partitions; None where no leader tells.

        A leader that has just changed is asked anew for a moment. One that cannot be reached is
        not: in a cluster that was broken on purpose it may stay so. leaders: who leads, where the
        caller has just been told.
        """
        places = list(places)
        found = [dict[Place, int | None].fromkeys(places) for _ in timestamps]
        if not places:
            return found
        # who has no leader now may have one a moment later, when it is asked anew
        told_before = dict(leaders) if all(leader >= 0 for leader in leaders.values()) else {}

        def done() -> bool:
            leading = told_before or self._leaders_now(places)
            moving = False
            for timestamp, offsets in zip(timestamps, found, strict=True):
                missing = {place for place, offset in offsets.items() if offset is None}
                told, refused = self._told_by(
                    {place: who for place, who in leading.items() if place in missing}, timestamp
                )
                offsets.update(told)
                moving = moving or refused
            told_before.clear()
            return not moving

        with contextlib.suppress(WaitTimeout):
            wait_until(done, timeout=1, what="the leaders", not_yet=UNSETTLED)
        return found

    def configs(self, kind: int, name: str) -> Configs:
        """Every setting of a topic or a broker; `kind` is TOPIC or BROKER."""
        resource = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=kind, resource_name=name, configuration_keys=None
        )
        request = DescribeConfigsRequest(resources=[resource], include_synonyms=False)

        def read() -> Configs:
            address = self._addresses().get(int(name)) if kind == BROKER else None
            answer = wire.ask(address, request) if address else self._any(request)
            (result,) = answer.results
            accept(result.error_code, result.error_message)
            return Configs(
                {c.name: ConfigValue(c.value, SOURCES[c.config_source]) for c in result.configs}
            )

        return self._settled(f"the settings of {name}", read)

    def log_bytes(self, topic: str, broker: int) -> dict[int, int]:
        """Partition -> bytes of its log at this broker, by the broker's own word."""

        def read() -> dict[int, int]:
            if (address := self._addresses().get(broker)) is None:
                raise NotYet(f"broker {broker} does not answer")
            wanted = DescribeLogDirsRequest.DescribableLogDirTopic(topic=topic, partitions=all_of)
            answer = wire.ask(address, DescribeLogDirsRequest(topics=[wanted]))
            accept(answer.error_code)
            for folder in answer.results:
                accept(folder.error_code)
            return {
                one.partition_index: one.partition_size
                for folder in answer.results
                for found in folder.topics
                for one in found.partitions
            }

        all_of = [p.partition_index for p in self.describe_now(topic).partitions]
        return self._settled(f"the logs of {topic} at broker {broker}", read)

    def groups(self) -> dict[str, str]:
        """Name -> state, of all groups."""
        listed = self._settled("the list of groups", self.listed_groups)
        return {name: state for name, (_, _, state) in sorted(listed.items())}

    def group(self, name: str) -> GroupView:
        return self._settled(f"the group {name}", lambda: self.group_now(name))

    def coordinator(self, group: str) -> int:
        """Also of a group that there is not: the name alone decides."""

        def read() -> int:
            answer = self._any(FindCoordinatorRequest(key_type=0, coordinator_keys=[group]))
            (found,) = answer.coordinators
            accept(found.error_code, found.error_message)
            return int(found.node_id)

        return self._settled(f"the coordinator of {group}", read)

    def quorum(self) -> QuorumView:
        kind = DescribeQuorumRequest.TopicData
        log = kind(
            topic_name="__cluster_metadata", partitions=[kind.PartitionData(partition_index=0)]
        )

        def read() -> QuorumView:
            answer = self._any(DescribeQuorumRequest(topics=[log]))
            accept(answer.error_code, answer.error_message)
            (partition,) = answer.topics[0].partitions
            accept(partition.error_code, partition.error_message)
            end = max(voter.log_end_offset for voter in partition.current_voters)

            def views(replicas: Iterable[Any]) -> list[ReplicaView]:
                return [
                    ReplicaView(r.replica_id, r.log_end_offset, max(end - r.log_end_offset, 0))
                    for r in sorted(replicas, key=lambda r: r.replica_id)
                ]

            return QuorumView(
                leader=partition.leader_id if partition.leader_id >= 0 else None,
                epoch=partition.leader_epoch,
                high_watermark=partition.high_watermark,
                voters=views(partition.current_voters),
                observers=views(partition.observers),
            )

        return self._settled("the controller quorum", read)

    def describe_now(self, topic: str, address: str | None = None) -> Any:
        """What one broker, or the one asked, knows of a topic; a NoTopic where there is none."""
        kind = DescribeTopicPartitionsRequest.TopicRequest
        request = DescribeTopicPartitionsRequest(
            topics=[kind(name=topic)], response_partition_limit=2000, cursor=None
        )
        (described,) = (wire.ask(address, request) if address else self._any(request)).topics
        if for_code(described.error_code).__name__ == "UnknownTopicOrPartitionError":
            raise NoTopic(f"There is no topic {topic!r}.")
        accept(described.error_code)
        return described

    def offsets_now(self, places: list[Place], timestamp: int) -> tuple[dict[Place, int], bool]:
        """One round: each leader in reach is asked once.

        Also tells whether one answered that it does not lead (any more, or yet).
        """
        if not places:
            return {}, False
        return self._told_by(self._leaders_now(places), timestamp)

    def _leaders_now(self, places: Iterable[Place]) -> dict[Place, int]:
        """Who leads, as the first broker that answers knows it; -1 where nobody does."""
        wanted = set(places)
        answer = self.ask_metadata(sorted({topic for topic, _ in wanted}))
        return {
            (topic.name, p.partition_index): p.leader_id
            for topic in answer.topics
            for p in topic.partitions
            if (topic.name, p.partition_index) in wanted
        }

    def _told_by(self, leaders: Leaders, timestamp: int) -> tuple[dict[Place, int], bool]:
        """What those leaders tell that can be reached; and whether one does not lead."""
        reachable = self._addresses()
        of_leader: dict[int, list[Place]] = {}
        for place, leader in leaders.items():
            if leader in reachable:
                of_leader.setdefault(leader, []).append(place)
        found: dict[Place, int] = {}
        refused = False
        for leader, theirs in of_leader.items():
            kind = ListOffsetsRequest.ListOffsetsTopic
            request = ListOffsetsRequest(
                replica_id=-1,
                isolation_level=0,
                topics=[
                    kind(
                        name=topic,
                        partitions=[
                            kind.ListOffsetsPartition(
                                partition_index=partition,
                                current_leader_epoch=-1,
                                timestamp=timestamp,
                            )
                            for name, partition in theirs
                            if name == topic
                        ],
                    )
                    for topic in dict.fromkeys(name for name, _ in theirs)
                ],
            )
            try:
                answered = wire.ask(reachable[leader], request)
            except UNSETTLED:
                continue
            for topic in answered.topics:
                for p in topic.partitions:
                    if p.error_code == 0:
                        found[topic.name, p.partition_index] = p.offset
                    else:
                        refused = True
        return found, refused

    def listed_groups(self) -> dict[str, tuple[int, str, str]]:
        """Name -> coordinator, type, state. Every broker lists the groups it coordinates.

        A broker that does not answer may coordinate any group, so nothing is known until it does
        or until the cluster has given it up.
        """
        found = {}
        reachable = self._addresses()
        for broker in wire.brokers(self.ask_metadata([])):
            if broker not in reachable:
                raise NotYet(f"broker {broker} does not answer")
            answer = wire.ask(
                reachable[broker], ListGroupsRequest(states_filter=[], types_filter=[])
            )
            accept(answer.error_code)
            for group in answer.groups:
                state = groups.upper(group.group_state)
                found[group.group_id] = (broker, group.group_type.lower(), state)
        return found

    def group_now(self, name: str) -> GroupView:
        """One round, which may find the coordinator on the move: a NotYet then."""
        listed = self.listed_groups()
        if name not in listed:
            return GroupView(name, "DEAD", "", "", None, [], {}, {})
        coordinator, kind, state = listed[name]
        address = self._addresses()[coordinator]
        protocol = ""
        members: list[MemberView] = []
        offsets: dict[Place, int] = {}
        if kind == "classic":
            state, protocol, members = groups.describe_classic(address, name)
        elif kind == "consumer":
            state, protocol, members = groups.describe_consumer(address, name)
        elif kind == "share":
            state, protocol, members = groups.describe_share(address, name)
        if kind in ("classic", "consumer"):
            offsets = self.committed(name, coordinator)
        assigned = [(t, p) for m in members for t, ps in m.assignment.items() for p in ps]
        (ends,) = self.offsets({*offsets, *assigned}, LATEST)
        return GroupView(name, state, kind, protocol, coordinator, members, offsets, ends)

    def ending_transactions(self) -> list[str]:
        """Those of which the end is decided and not yet written to their partitions."""
        reachable, found = self._addresses(), []
        for broker in wire.brokers(self.ask_metadata([])):
            if broker not in reachable:
                raise NotYet(f"broker {broker} does not answer")
            states = ["PrepareCommit", "PrepareAbort"]
            answer = wire.ask(
                reachable[broker],
                ListTransactionsRequest(state_filters=states, producer_id_filters=[]),
            )
            accept(answer.error_code)
            found += [one.transactional_id for one in answer.transaction_states]
        return found

    def committed(self, group: str, coordinator: int) -> dict[Place, int]:
        """The offset that the group has committed for each partition, where there is one."""
        kind = OffsetFetchRequest.OffsetFetchRequestGroup
        request = OffsetFetchRequest(
            groups=[kind(group_id=group, topics=None)], require_stable=False
        )
        (answer,) = wire.ask(self._addresses()[coordinator], request).groups
        accept(answer.error_code)
        return {
            (topic.name, p.partition_index): p.committed_offset
            for topic in answer.topics
            for p in topic.partitions
            if p.committed_offset >= 0
        }
