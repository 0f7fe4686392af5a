"""The experiments of lessons 09 and 10, again and again: each must end the same way every time.

./course bench duplicates [experiment …] [--repeat 20]

Seconds count from the first fault, or the first record, to the verdict.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

from kafka import KafkaAdminClient, KafkaProducer
from kafka.errors import KafkaError

from benchmarks._progress import Progress
from benchmarks._tally import Tally
from kafkalab import Cluster, Ledger, clients, quick

RECORDS = 50
PARTITIONS, BURST = 6, 600
# A broker that stands still for two seconds is not to lose what it leads.
SETTINGS = {"broker.session.timeout.ms": 9_000}


class Round:
    """One go of an experiment, on a topic of its own with three replicas."""

    def __init__(self, cluster: Cluster, partitions: int) -> None:
        self.cluster = cluster
        self.topic = cluster.unused("round")
        safe = {"replication_factor": 3, "configs": {"min.insync.replicas": "2"}}
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics({self.topic: {"num_partitions": partitions, **safe}})
        cluster.wait_for_topic(self.topic)
        cluster.gateway.clear()
        self.began = 0.0

    def producer(self, name: str = "", **settings: Any) -> Any:
        settings = {"request_timeout_ms": 1_500, "linger_ms": 100, **settings}
        return KafkaProducer(
            bootstrap_servers=self.cluster.address,
            client_id=self.topic + name,
            **quick.producer | settings,
        )

    def start(self) -> None:
        self.began = time.perf_counter()

    def send(self, producer: Any) -> Ledger:
        ledger = Ledger()
        for number in range(RECORDS):
            ledger.sent(number, producer.send(self.topic, value=b"%d" % number))
        return ledger

    def found(self, isolation: str) -> int:
        return Ledger().read_back(self.cluster, self.topic, isolation=isolation)

    def visible(self) -> str:
        """What a reader of each isolation level gets."""
        self.cluster.wait_for_markers()
        levels = ("read_uncommitted", "read_committed")
        return ", ".join(f"{level} {self.found(level)}" for level in levels)


def frozen(it: Round, still: int, **settings: Any) -> str:
    """So many brokers stand still until the producer has sent again what got no answer.

    One: the leader of the first partition. Two: the others. With acks=1 only what they lead gets no
    answer; with acks=all nothing does, for each partition needs one of them.
    """
    producer = it.producer(linger_ms=500, **settings)
    for partition in range(PARTITIONS):
        producer.send(it.topic, value=b"first", partition=partition).get(timeout=20)
    leads = {p.partition: p.leader for p in it.cluster.topic(it.topic).partitions}
    brokers = [broker for broker in it.cluster.brokers if (broker == leads[0]) == (still == 1)]
    silent = brokers if settings.get("acks") == 1 else it.cluster.brokers
    ledger = Ledger()
    it.cluster.gateway.clear()
    it.start()
    try:
        for broker in brokers:
            it.cluster.pause(broker)
        for number in range(BURST):
            place = {"partition": number % PARTITIONS}
            ledger.sent(number, producer.send(it.topic, value=b"%d" % number, **place))
        it.cluster.gateway.wait_for_retries(it.topic, silent)
    finally:
        for broker in brokers:
            it.cluster.resume(broker)
    verdict = ledger.verdict(it.cluster)
    unanswered = [number for number in range(BURST) if leads[number % PARTITIONS] in silent]
    where = {tuple(unanswered): "what got no answer", (): "none"}
    return f"{told(verdict)}: {where.get(tuple(verdict.duplicated), 'others')}"


def dropped(it: Round, **settings: Any) -> str:
    """The answers to three of the records get lost."""
    producer = it.producer(linger_ms=0, **settings)
    producer.send(it.topic, value=b"first").get(timeout=20)
    it.start()
    ledger = Ledger()
    for number in range(RECORDS):
        if number in (10, 20, 30):
            it.cluster.gateway.drop_replies("Produce", count=1, client_id=it.topic)
        sent = ledger.sent(number, producer.send(it.topic, value=b"%d" % number))
        sent.get(timeout=20)
    return told(ledger.verdict(it.cluster))


def restarted(it: Round) -> str:
    """The program has sent everything, is started anew, and sends everything."""
    it.start()
    it.send(it.producer()).settle()
    return told(it.send(it.producer()).verdict(it.cluster))


def zombie(it: Round) -> str:
    """A second producer takes the name of a first that has not committed yet; then both do."""
    it.start()
    first = it.producer(" first", transactional_id=it.topic)
    first.init_transactions()
    first.begin_transaction()
    it.send(first)
    first.flush(timeout=20)
    second = it.producer(" second", transactional_id=it.topic)
    second.init_transactions()
    second.begin_transaction()
    it.send(second)
    second.commit_transaction()
    try:
        first.commit_transaction()
        outcome = "not fenced"
    except KafkaError as error:
        outcome = type(error).__name__
    return f"{outcome}, {it.visible()}"


def abort(it: Round) -> str:
    """One transaction is committed and the next is aborted."""
    it.start()
    producer = it.producer(transactional_id=it.topic)
    producer.init_transactions()
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        it.send(producer)
        producer.flush(timeout=20)
        end()
    return f"{it.visible()}, end {it.cluster.topic(it.topic).partitions[0].end_offset}"


def told(verdict: Any) -> str:
    """A verdict in words that can be compared."""
    return (
        f"{len(verdict.acknowledged)} acknowledged, {len(verdict.duplicated)} doubled, "
        f"{len(verdict.lost)} lost"
    )


EXPERIMENTS: dict[str, Callable[[Round], str]] = {
    "frozen-off": lambda it: frozen(it, 2, enable_idempotence=False),
    "frozen-on": lambda it: frozen(it, 2),
    "frozen-leader-off": lambda it: frozen(it, 1, enable_idempotence=False),
    "frozen-leader-on": lambda it: frozen(it, 1),
    "frozen-acks-1": lambda it: frozen(it, 2, acks=1, enable_idempotence=False),
    "frozen-leader-acks-1": lambda it: frozen(it, 1, acks=1, enable_idempotence=False),
    "dropped-off": lambda it: dropped(it, enable_idempotence=False),
    "dropped-on": dropped,
    "dropped-acks-1": lambda it: dropped(it, acks=1, enable_idempotence=False),
    "restarted": restarted,
    "zombie": zombie,
    "abort": abort,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench duplicates")
    parser.add_argument("names", nargs="*", metavar="experiment", help=", ".join(EXPERIMENTS))
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    if unknown := set(options.names) - set(EXPERIMENTS):
        parser.error(f"there is no experiment {', '.join(sorted(unknown))}")
    os.environ.pop("KAFKALAB_CLUSTER", None)
    tally = Tally()
    plan = dict.fromkeys(options.names or EXPERIMENTS, options.repeat)
    with (
        Progress(plan, tally.show) as progress,
        Cluster.start("replicated", settings=SETTINGS, gateway=True) as cluster,
    ):
        for name, _ in progress.goes():
            it = Round(cluster, PARTITIONS if name.startswith("frozen") else 1)
            verdict = EXPERIMENTS[name](it)
            tally.note(name, verdict, time.perf_counter() - it.began)
            clients.close_all(cluster.addresses.values())
    tally.judge()


if __name__ == "__main__":
    main()
