"""What was sent and acknowledged, and what was read: the evidence for every claim about delivery.

    ledger = Ledger()
    ledger.sent(number, producer.send("rides", value=str(number).encode()))
    ledger.settle()
    ledger.read_back(cluster, "rides")
    ledger.verdict()

The words of the verdict are defined in kafkalab/evidence/verdict.py.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafkalab import clients, quick
from kafkalab.errors import CourseError
from kafkalab.evidence.verdict import (
    ACKNOWLEDGED,
    FAILED,
    STATES,
    Identity,
    Reading,
    Sending,
    Verdict,
    judge,
)
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord
    from kafka.producer.future import FutureRecordMetadata, RecordMetadata
    from pyspark.sql import DataFrame, SparkSession

    from kafkalab.cluster.cluster import Cluster

LOG = "log"


class Ledger:
    """Notes sends and reads as they happen; any thread may call it."""

    def __init__(self) -> None:
        # Answers come on the producer's network thread; settle() waits for them here.
        self._answered = threading.Condition()
        self._sendings: list[Sending] = []
        self._unresolved = 0
        self._reads: list[Reading] = []
        self._log: dict[str, list[Reading]] = {}

    def sent(self, identity: Identity, future: FutureRecordMetadata) -> FutureRecordMetadata:
        """Note a send as soon as it is made: the latency counts from here.

        The future comes back, for a cell that waits for it. Two sends of one identity, as when an
        application tries again, are one record.
        """
        clock, now = time.perf_counter(), time.time()
        # The only place where the future tells which topic and partition it is meant for.
        topic, partition = future._produce_future.topic_partition
        with self._answered:
            place = len(self._sendings)
            self._sendings.append(Sending(identity, topic, partition, sent_at=now))
            self._unresolved += 1

        def acknowledged(metadata: RecordMetadata) -> None:
            latency = time.perf_counter() - clock
            self._answer(
                place,
                state=ACKNOWLEDGED,
                offset=metadata.offset,
                acknowledged_at=now + latency,
                latency_ms=latency * 1_000,
            )

        def failed(error: BaseException) -> None:
            self._answer(place, state=FAILED, error=type(error).__name__)

        future.add_callback(acknowledged)
        future.add_errback(failed)
        return future

    def _answer(self, place: int, **answer: Any) -> None:
        with self._answered:
            self._sendings[place] = replace(self._sendings[place], **answer)
            self._unresolved -= 1
            self._answered.notify_all()

    def settle(self, timeout: float = 15) -> dict[str, int]:
        """Wait until every send has its answer; how many are in which state.

        At the deadline the rest is left as unresolved: that is a result, not an error.
        """
        with self._answered:
            self._answered.wait_for(lambda: not self._unresolved, timeout)
            states = [sending.state for sending in self._sendings]
        return {state: states.count(state) for state in STATES}

    def read(
        self, record: ConsumerRecord, identity: Identity | None = None, reader: str = "reader"
    ) -> None:
        """Note a record that a consumer of the lesson handed out.

        `reader` names the whole group (or a consumer without one): all its members share the name.
        """
        if identity is None:
            identity = _value(record)
        with self._answered:
            self._reads.append(_reading(record, identity, reader))

    def read_back(
        self,
        cluster: Cluster | str,
        topic: str,
        identity: Callable[[ConsumerRecord], Identity] | None = None,
        isolation: str = "read_uncommitted",
        timeout: float = 30,
    ) -> int:
        """Read the topic from its start to the end it has now, apart from every group; how many.

        What an earlier call read from the topic is forgotten, so the verdict is about the last one.
        Records of open and aborted transactions are in the log too; isolation "read_committed"
        leaves them out.
        """
        from kafka import KafkaConsumer, TopicPartition

        identity = identity or _value
        deadline = time.monotonic() + timeout
        with KafkaConsumer(
            bootstrap_servers=cluster if isinstance(cluster, str) else cluster.address,
            client_id="ledger",
            auto_offset_reset="earliest",
            isolation_level=isolation,
            **quick.consumer,
        ) as consumer:
            partitions = wait_until(
                lambda: consumer.partitions_for_topic(topic) or None,
                timeout=timeout,
                what=f"the partitions of topic {topic}",
            )
            consumer.assign([TopicPartition(topic, number) for number in sorted(partitions)])
            found = [
                _reading(record, identity(record), LOG)
                for record in clients.records_until_end(consumer, deadline - time.monotonic())
            ]
        with self._answered:
            self._log[topic] = found
        return len(found)

    def verdict(
        self, cluster: Cluster | str | None = None, readers: Collection[str] | None = None
    ) -> Verdict:
        """The judgement on all that was noted; with a cluster, after settling and reading back.

        Name the `readers` where one of them may have read nothing at all: by default those who
        read at least one record are asked what they have not seen.
        """
        topics = dict.fromkeys(sending.topic for sending in self._snapshot()[0])
        if cluster is not None:
            self.settle()
            for topic in topics:
                self.read_back(cluster, topic)
        sendings, log, reads = self._snapshot()
        if unread := [topic for topic in topics if topic not in self._log]:
            raise CourseError(
                f"What is in the log of {', '.join(unread)} is not known yet.",
                "A verdict compares what was sent with what is stored.",
                f'Call ledger.read_back(cluster, "{unread[0]}") first.',
            )
        return judge(sendings, log, reads, readers)

    def frame(self, spark: SparkSession) -> DataFrame:
        """One row per send, for Spark; see kafkalab/evidence/frames.py for the columns."""
        from kafkalab.evidence import frames

        return frames.sendings(spark, *self._snapshot(), read_back=set(self._log))

    def readings(self, spark: SparkSession) -> DataFrame:
        """One row per record that was read, by the lesson's readers and by `read_back` ("log")."""
        from kafkalab.evidence import frames

        _, log, reads = self._snapshot()
        return frames.readings(spark, [*log, *reads])

    def _snapshot(self) -> tuple[list[Sending], list[Reading], list[Reading]]:
        with self._answered:
            log = [reading for found in self._log.values() for reading in found]
            return list(self._sendings), log, list(self._reads)

    def __repr__(self) -> str:
        sendings, log, reads = self._snapshot()
        states = [sending.state for sending in sendings]
        counts = [f"{state} {states.count(state):,}" for state in STATES]
        return " · ".join(
            [f"sent {len(sendings):,}", *counts, f"read {len(reads):,}", f"in the log {len(log):,}"]
        )


def _value(record: ConsumerRecord) -> str:
    return (record.value or b"").decode("utf-8", "backslashreplace")


def _reading(record: ConsumerRecord, identity: Identity, reader: str) -> Reading:
    return Reading(
        reader,
        str(identity),
        record.topic,
        record.partition,
        record.offset,
        record.timestamp,
        read_at=time.time(),
    )
