"""What a gateway costs a kafka-python client, against a direct connection to the same broker.

./course bench gateway [--records 50000] [--sends 300] [--rounds 5] [--busy] [--json]

Two brokers of the same kind, one of them behind a gateway, take turns, so that a busy minute of the
machine hits both.
`--busy` lets a thread of this process compute meanwhile, as a cell of a notebook does.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import threading
import time
from collections.abc import Iterator

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from rich.console import Console
from rich.table import Table

from benchmarks._progress import Progress
from kafkalab import Cluster, quick

VALUE = b"x" * 100


@contextlib.contextmanager
def both_ways() -> Iterator[dict[str, Cluster]]:
    """The same cluster shape twice, once behind a gateway."""
    with (
        Cluster.start("single") as direct,
        Cluster.start("single", beside=True, gateway=True) as forwarded,
    ):
        yield {"direct": direct, "gateway": forwarded}


def measure(cluster: Cluster, topic: str, records: int, sends: int) -> dict[str, float]:
    producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
    producer.send(topic, VALUE).get(timeout=10)
    began = time.perf_counter()
    for _ in range(records):
        producer.send(topic, VALUE)
    producer.flush(60)
    produced = records / (time.perf_counter() - began)
    waits = []
    for _ in range(sends):
        began = time.perf_counter()
        producer.send(topic, VALUE).get(timeout=10)
        waits.append((time.perf_counter() - began) * 1000)
    producer.close()
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=cluster.address,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=100,
        **quick.consumer,
    )
    began, read = time.perf_counter(), 0
    while read < records + sends:
        read += sum(map(len, consumer.poll(timeout_ms=1000, max_records=5000).values()))
    consumed = read / (time.perf_counter() - began)
    consumer.close()
    return {
        "produced records/s": produced,
        "consumed records/s": consumed,
        "median ms per send().get()": statistics.median(waits),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench gateway")
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--sends", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--busy", action="store_true", help="while this process computes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ.pop("KAFKALAB_CLUSTER", None)
    over = threading.Event()
    if options.busy:
        threading.Thread(target=compute, args=(over,), daemon=True).start()
    rounds: dict[str, list[dict[str, float]]] = {"direct": [], "gateway": []}
    plan = {f"round-{number}": 1 for number in range(options.rounds)}
    with Progress(plan, lambda: show(rounds, options.json)) as progress, both_ways() as ways:
        for topic, _ in progress.goes():
            for way, cluster in ways.items():
                with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
                    admin.create_topics([topic])
                cluster.wait_for_topic(topic)
                rounds[way].append(measure(cluster, topic, options.records, options.sends))
    over.set()


def show(rounds: dict[str, list[dict[str, float]]], as_json: bool) -> None:
    result = {
        figure: {
            way: statistics.median(each[figure] for each in found) for way, found in rounds.items()
        }
        for figure in rounds["direct"][0]
    }
    if as_json:
        print(json.dumps(result, indent=1))
        return
    table = Table("median of rounds", "direct", "gateway", "gateway / direct")
    for figure, ways in result.items():
        direct, gateway = ways["direct"], ways["gateway"]
        table.add_row(figure, f"{direct:,.2f}", f"{gateway:,.2f}", f"{gateway / direct:.2f}")
    Console().print(table)


def compute(over: threading.Event) -> None:
    """What a cell does that never waits."""
    while not over.is_set():
        sum(range(10_000))


if __name__ == "__main__":
    main()
