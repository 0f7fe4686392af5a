"""What can be asked of a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any

from kafkalab.cluster import replicas, segments
from kafkalab.cluster.asking import UNSETTLED, NoTopic, NotYet
from kafkalab.cluster.glance import Glance, glance
from kafkalab.cluster.replicas import Copies
from kafkalab.cluster.segments import Batch, Segment
from kafkalab.cluster.survey import BROKER, Survey
from kafkalab.cluster.views import Configs, GroupView, QuorumView, TopicView
from kafkalab.errors import CourseError


class Observed(ABC):
    """The reading part of `Cluster`. Every view is fresh; none of them changes anything."""

    @property
    @abstractmethod
    def brokers(self) -> list[int]:
        """The ids of the brokers that the profile describes, alive or not."""

    @abstractmethod
    def _reachable(self) -> Mapping[int, str]:
        """Addresses of the brokers that may answer, the likeliest to know most first."""

    @abstractmethod
    def _storage(self, broker: int, part: str, indexes: bool) -> Path | None:
        """The folder with a broker's log folders, or None; what is wanted of them: see Engine."""

    @cached_property
    def _survey(self) -> Survey:
        return Survey(self._reachable)

    def topics(self, internal: bool = False) -> list[str]:
        """The names of all topics; Kafka's own only when asked for."""
        return self._survey.topics(internal)

    def topic(self, name: str) -> TopicView:
        """Its partitions, replicas, offsets and settings now; a NoTopic where there is none."""
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
        """State, members, offsets and lag of a group; its state is `DEAD` where there is none."""
        return self._survey.group(name)

    def group_now(self, name: str) -> GroupView | None:
        """The same as it is told at this moment, also halfway; None while its brokers are silent.

        It waits for nothing.
        """
        try:
            return self._survey.group_now(name)
        except UNSETTLED:
            return None

    def coordinator(self, group: str) -> int:
        """The broker that looks after a group of this name, whether or not there is one yet."""
        return self._survey.coordinator(group)

    def quorum(self) -> QuorumView:
        """Who keeps the cluster's metadata, who leads, and how far behind each of them is."""
        return self._survey.quorum()

    def broker_configs(self, broker: int) -> Configs:
        """Every setting that is in force on a broker."""
        return self._survey.configs(BROKER, str(broker))

    def log_bytes(self, topic: str, broker: int) -> dict[int, int]:
        """Partition -> bytes of its log at a broker, as that broker tells; looks at no disk."""
        return self._survey.log_bytes(topic, broker)

    def glance(self) -> Glance:
        """Brokers, partitions and groups as they are told at this moment; waits for nothing."""
        return glance(self._survey)

    def segments(self, topic: str, partition: int, broker: int | None = None) -> list[Segment]:
        """The segment files of one replica, from the disk; of the leader unless told otherwise."""
        folder = self._partition_folder(topic, partition, broker, indexes=True)
        return segments.segments(folder)

    def batches(self, topic: str, partition: int, broker: int | None = None) -> list[Batch]:
        """The batches of one replica, from the disk. Works while the broker is down."""
        return segments.batches(self._partition_folder(topic, partition, broker))

    def copies(self, topic: str, partition: int = 0, noted: bool = True) -> Copies:
        """What each broker's disk holds of a partition; no broker has to run for it.

        noted: the high watermarks too, for which each disk is read once more.
        """
        found = Copies()
        for broker in self.brokers:
            folder = self._folder(broker, topic, partition)
            if folder is not None:
                copy = replicas.copy_of(broker, folder)
                notes = self._storage(broker, replicas.NOTES, False) if noted else None
                if notes is not None:
                    mark = replicas.noted_high_watermark(notes, topic, partition)
                    copy = replace(copy, high_watermark=mark)
                found[broker] = copy
        return found

    def log_ends(self, topic: str, partition: int = 0) -> dict[int, int]:
        """Broker -> log end offset of its replica, from the disk."""
        return self.copies(topic, partition, noted=False).ends

    def _partitions(self, topic: str) -> dict[int, Any]:
        try:
            described = self._survey.describe_now(topic)
        except NoTopic:
            raise NotYet(f"there is no topic {topic}") from None
        return {p.partition_index: p for p in described.partitions}

    def _partition_folder(
        self, topic: str, partition: int, broker: int | None, indexes: bool = False
    ) -> Path:
        """Of one broker, or of the leader, or of whoever has a replica."""
        if broker is not None:
            candidates = [broker]
        else:
            candidates = sorted(self.brokers, key=lambda b: b != self._leader(topic, partition))
        for candidate in candidates:
            folder = self._folder(candidate, topic, partition, indexes)
            if folder is not None:
                return folder
        who = "No broker has a" if broker is None else f"Broker {broker} has no"
        raise CourseError(f"{who} replica of {topic} {partition} on its disk.")

    def _folder(
        self, broker: int, topic: str, partition: int, indexes: bool = False
    ) -> Path | None:
        storage = self._storage(broker, f"{topic}-{partition}", indexes)
        return None if storage is None else segments.partition_folder(storage, topic, partition)

    def _leader(self, topic: str, partition: int) -> int | None:
        try:
            return int(self._partitions(topic)[partition].leader_id)
        except (*UNSETTLED, KeyError):
            return None
