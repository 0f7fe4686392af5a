"""The cluster as a check may see it: it asks and reads, and has nothing that writes."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from grading.judge.checks import Unseen
from grading.judge.log import Log, Record
from kafkalab.errors import CourseError
from kafkalab.wait import WaitTimeout, wait_until

if TYPE_CHECKING:
    from kafka import KafkaConsumer

    from kafkalab.cluster.cluster import Cluster
    from kafkalab.cluster.segments import Batch, Segment
    from kafkalab.cluster.views import (
        Configs,
        GroupView,
        PartitionView,
        QuorumView,
        TopicView,
    )

READ_TIMEOUT = 30.0
LOG_APPEND_TIME = 1  # the kind of a timestamp, as Kafka numbers it
A_MOMENT = 1.5  # a topic made a moment ago may not be known to every broker


class ClusterView:
    """Questions to the cluster. Each answer is fresh, but for `read` within one checkpoint."""

    def __init__(self, cluster: Cluster, client_id: str = "grading") -> None:
        self._cluster = cluster
        self._client_id = client_id
        self.patience = 1.0
        self.seen: dict[str, Any] = {}
        """What was looked at since the last `forget`, in short: evidence."""
        self._logs: dict[tuple[str, str], Log] = {}
        self._absent: set[tuple[str, str]] = set()
        self._readers: dict[str, KafkaConsumer] = {}

    @property
    def brokers(self) -> list[int]:
        """The ids of all brokers that the cluster should have."""
        return self._cluster.brokers

    def down(self) -> list[int]:
        """The brokers whose process has ended or stands still; none where nobody can tell."""
        with contextlib.suppress(CourseError, OSError):
            return [one for one in self.brokers if self._cluster.state(one) != "running"]
        return []

    def topics(self, internal: bool = False) -> list[str]:
        """The names of all topics."""
        return self._cluster.topics(internal=internal)

    def topic(self, name: str) -> TopicView:
        """A topic: .partitions (leader, replicas, isr, …), .configs, .records."""
        self._wait_for(name, self.topics, "topic")
        topic = self._cluster.topic(name)
        self.seen[f"topic {name}"] = in_short(topic)
        return topic

    def partition(self, topic: str, number: int) -> PartitionView:
        """One partition of a topic: .leader, .replicas, .isr, …"""
        for partition in self.topic(topic).partitions:
            if partition.partition == number:
                return partition
        raise Unseen(f"the topic {topic} has no partition {number}")

    def groups(self) -> dict[str, str]:
        """Name -> state of all consumer groups."""
        return self._cluster.groups()

    def group(self, name: str) -> GroupView:
        """A group: .state, .members with what each reads, .offsets, .lag."""
        self._wait_for(name, self.groups, "consumer group")
        group = self._cluster.group(name)
        self.seen[f"group {name}"] = {
            "state": group.state,
            "members": len(group.members),
            "offsets": {f"{topic} {at}": offset for (topic, at), offset in group.offsets.items()},
        }
        return group

    def quorum(self) -> QuorumView:
        """The metadata quorum: leader, epoch, voters, observers."""
        return self._cluster.quorum()

    def broker_configs(self, broker: int) -> Configs:
        """The settings of a broker, with where each comes from."""
        return self._cluster.broker_configs(broker)

    def segments(self, topic: str, partition: int, broker: int | None = None) -> list[Segment]:
        """The segment files of a partition on the disk of a broker."""
        self._wait_for(topic, self.topics, "topic")
        return self._cluster.segments(topic, partition, broker)

    def batches(self, topic: str, partition: int, broker: int | None = None) -> list[Batch]:
        """The record batches of a partition as they lie on the disk: size, codec, offsets."""
        self._wait_for(topic, self.topics, "topic")
        return self._cluster.batches(topic, partition, broker)

    def logs(self, broker: int) -> list[str]:
        """The lines that a broker has logged, the last ones where there are many."""
        return self._cluster.logs(broker, lines=20_000).splitlines()

    def read(
        self,
        topic: str,
        *,
        isolation: str = "read_uncommitted",
        limit: int,
        may_be_empty: bool = False,
    ) -> Log:
        """All records of a topic; see Visible.read."""
        # Kafka's own topics too: the one of the committed offsets tells what a group did when.
        self._wait_for(topic, lambda: self.topics(internal=topic.startswith("__")), "topic")
        if (topic, isolation) not in self._logs:
            self._logs[topic, isolation] = log = Log(self._records(topic, isolation, limit))
            content = "\n".join(f"{r.partition} {r.offset} {r.key!r} {r.value!r}" for r in log)
            self.seen[f"records of {topic}, {isolation}"] = {
                "records": {
                    str(partition): len(some) for partition, some in log.partitions.items()
                },
                "sha256": hashlib.sha256(content.encode()).hexdigest(),
            }
        if not self._logs[topic, isolation] and not may_be_empty:
            raise Unseen(self._why_empty(topic))
        return self._logs[topic, isolation]

    def fetched(self, topic: str) -> dict[str, set[tuple[int, int]]]:
        """Client -> partition and offset of the records that the network has brought to it.

        Of a lab whose clients reach the brokers through a gateway. Batches come whole, so a few
        may be among them that lie before the place where a client began.
        """
        made = self.topic(topic).id
        found: dict[str, set[tuple[int, int]]] = {}
        for frame in self._cluster.gateway.frames("Fetch"):
            for some in frame.fetched:
                if topic == some.topic or made == some.topic_id:
                    offsets = range(some.first, some.last + 1)
                    had = found.setdefault(frame.client_id or "", set())
                    had.update((some.partition, offset) for offset in offsets)
        return found

    def forget(self) -> None:
        """Look afresh from here on: the notebook went on."""
        self._logs.clear()
        self._absent.clear()
        self.seen = {}

    def close(self) -> None:
        """Close the consumers that were opened to read logs."""
        while self._readers:
            self._readers.popitem()[1].close()

    def open_reader(self, isolation: str = "read_uncommitted") -> KafkaConsumer:
        """The consumer that reads logs; kept, since an old one knows the cluster already."""
        from kafka import KafkaConsumer

        from kafkalab import quick

        if isolation not in self._readers:
            self._readers[isolation] = KafkaConsumer(
                bootstrap_servers=self._cluster.address,
                client_id=f"{self._client_id}-{isolation}",
                group_id=None,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                isolation_level=isolation,
                fetch_max_wait_ms=20,
                # Each topic is new to it, so its questions for metadata follow one another.
                retry_backoff_ms=10,
                **quick.consumer,
            )
        return self._readers[isolation]

    def _why_empty(self, topic: str) -> str:
        gone = sum(p.start_offset or 0 for p in self._cluster.topic(topic).partitions)
        if not gone:
            return f"the topic {topic} is empty"
        return (
            f"the topic {topic} is empty: {gone} records were deleted from it. Kafka deletes what "
            "is older than the retention of the topic, by the time stamp of the record, which is "
            "in milliseconds"
        )

    def _records(self, topic: str, isolation: str, limit: int) -> list[Record]:
        from kafka.errors import KafkaError

        view = self._cluster.topic(topic)
        if view.records > limit:
            raise Unseen(f"the topic {topic} holds {view.records} records, more than {limit}")
        partitions = [partition.partition for partition in view.partitions]
        try:
            return self._read(topic, partitions, isolation)
        except (KafkaError, WaitTimeout):  # it may still look for a broker that was stopped
            self._readers.pop(isolation).close()
            return self._read(topic, partitions, isolation)

    def _read(self, topic: str, partitions: list[int], isolation: str) -> list[Record]:
        from kafka import TopicPartition

        from kafkalab.clients import records_until_end

        reader = self.open_reader(isolation)
        reader.assign([TopicPartition(topic, partition) for partition in partitions])
        reader.seek_to_beginning()
        found = [
            Record(
                *(r.partition, r.offset, r.timestamp, r.key, r.value, tuple(r.headers or ())),
                is_dated_by_broker=r.timestamp_type == LOG_APPEND_TIME,
            )
            for r in records_until_end(reader, timeout=READ_TIMEOUT)
        ]
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def _wait_for(self, name: str, known: Callable[[], Iterable[str]], kind: str) -> None:
        # what one check has waited for in vain, the next ones need not wait for
        timeout = 0 if (kind, name) in self._absent else A_MOMENT * self.patience
        try:
            wait_until(lambda: name in known(), timeout=timeout, what=f"the {kind} {name}")
        except WaitTimeout:
            self._absent.add((kind, name))
            others = ", ".join(list(known())[:8])
            raise Unseen(f"there is no {kind} {name} (there: {others or 'none'})") from None


def in_short(topic: TopicView) -> dict[str, Any]:
    """A topic as evidence."""
    chosen = {name: c.value for name, c in topic.configs.items() if "TOPIC" in c.source}
    return {
        "partitions": len(topic.partitions),
        "replicas": [partition.replicas for partition in topic.partitions],
        "records": [partition.records for partition in topic.partitions],
        "configs": chosen,
    }
