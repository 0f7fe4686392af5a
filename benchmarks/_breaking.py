"""One go of an experiment of benchmarks.loss: its brokers, topics and producers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Cluster, Ledger, quick, wait_until

RECORDS = 600
ONCE = {"retries": 0, "enable_idempotence": False}
Outcomes = Iterator[tuple[str, str]]


class Round:
    """One go of an experiment. Broker `a` is the one that dies; no topic is used twice."""

    def __init__(self, cluster: Cluster, number: int) -> None:
        self.cluster = cluster
        self.a, self.b, self.c = ((number + place) % 3 for place in range(3))
        self.broken_at = 0.0

    def topic(self, name: str, layout: list[list[int]], minimum: int = 1, **configs: str) -> str:
        topic = self.cluster.unused(name)
        configs = {key.replace("_", "."): value for key, value in configs.items()}
        configs |= {"min.insync.replicas": str(minimum)}
        new = {"assignments": dict(enumerate(layout)), "configs": configs}
        with KafkaAdminClient(bootstrap_servers=self.cluster.address, **quick.admin) as admin:
            admin.create_topics({topic: new})
        self.cluster.wait_for_topic(topic)
        return topic

    def producer(self, acks: int | str, **settings: Any) -> Any:
        settings = {"enable_idempotence": acks == "all", "delivery_timeout_ms": 60_000, **settings}
        return KafkaProducer(
            bootstrap_servers=self.cluster.address,
            client_id=f"acks-{acks}-{len(settings)}",
            acks=acks,
            **quick.producer | settings,
        )

    def errors(self, producer: Any, topic: str) -> str:
        """What a record for each of six partitions is answered with, by the name of the error."""
        sent = [producer.send(topic, b"?", partition=number) for number in range(6)]
        producer.flush(timeout=20)
        names = Counter(type(promise.exception).__name__ for promise in sent if promise.failed())
        refused = ", ".join(f"{count} {name}" for name, count in sorted(names.items()))
        return f"{6 - names.total()} accepted, {refused}"

    def leaderless(self, topic: str, count: int) -> list[Any]:
        """The partitions that nobody leads, as soon as there are so many."""

        def found() -> list[Any]:
            return [part for part in self.cluster.topic(topic).partitions if part.leader is None]

        what = f"{count} partitions of {topic} without a leader"
        wait_until(lambda: len(found()) == count, timeout=20, what=what, seen=found)
        return found()

    def ends(self, topic: str) -> set[int]:
        return set(self.cluster.log_ends(topic).values())


def send_all(ledger: Ledger, producer: Any, topic: str, partitions: int = 6) -> list[Any]:
    """So many records, to the partitions in turn; the promises."""
    return [
        ledger.sent(number, producer.send(topic, b"%d" % number, partition=number % partitions))
        for number in range(RECORDS)
    ]


def told(ledger: Ledger, cluster: Cluster) -> str:
    """A verdict in words that can be compared."""
    ledger.settle(60)
    verdict = ledger.verdict(cluster)
    return (
        f"{len(verdict.acknowledged)} acknowledged, {len(verdict.lost)} lost, "
        f"{len(verdict.duplicated)} doubled"
    )
