"""Offsets committed too early or too late: the same verdict each time, broken and mended.

./course bench redelivery [--repeat 20] [--json]

Each repetition runs the programs of lab 05 in groups of their own on one filled topic, and kills or
freezes a consumer where it hurts. Status 1 if any verdict differs from what is promised.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from kafka import KafkaAdminClient
from rich.console import Console
from rich.table import Table

from benchmarks._progress import Progress
from grading.define.place import find
from kafkalab import Cluster, quick, wait_until
from kafkalab.places import offer_programs

offer_programs(find("lab05").student)

from delivery import (  # type: ignore[import-not-found]  # noqa: E402
    Program,
    Run,
    difference,
)

RECORDS = 1_500
BATCH = 200
EVERY = 50
# The classic protocol lets a member ask for no shorter session than this.
SETTINGS = {"group.min.session.timeout.ms": 500}
EARLY = {"ack_every_x_msgs": EVERY, "instance_id": "12345"}
LATE = {
    "assignment_strategy": "rr",
    "session_timeout": 1_000,
    "heartbeat_interval": 300,
    "wait_after_batch": 250,
    "max_poll_recs": BATCH,
}


class Experiments:
    """All on one topic, each run with a group and a folder of its own."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        kind = {"num_partitions": 6, "replication_factor": 3}
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics({"filled": kind})
        cluster.wait_for_topic("filled")
        with Run(cluster, folder / "filled", topic="filled") as run:
            producer = run.producer(num_records_per_roll=RECORDS, quiet=True)
            assert producer.wait() == 0, producer
        # One producer's records are acknowledged in the order of their offsets.
        self.offsets: dict[tuple[int, str], int] = {}
        ends: defaultdict[int, int] = defaultdict(int)
        for entry in producer.payload:
            self.offsets[entry.partition, entry.key] = ends[entry.partition]
            ends[entry.partition] += 1
        self._sent = producer.log
        self._number = 0

    # --- Too early -----------------------------------------------------------------------------

    def early(self) -> tuple[str, bool]:
        """The position is committed after 50 records of a larger batch, then the consumer dies."""
        lost, extra, first = self._crash_after_first_commit()
        batch = _batches(first)[0]
        return (
            "the rest of the batch is lost",
            (lost, extra) == (batch - EVERY, 0) and batch > EVERY == len(first.payload),
        )

    def early_mended(self) -> tuple[str, bool]:
        """The same crash; what is committed is the offset behind the last processed record."""
        lost, extra, first = self._crash_after_first_commit(commit_offsets="processed")
        return "nothing lost, nothing extra", (lost, extra, len(first.payload)) == (0, 0, EVERY)

    def early_small(self) -> tuple[str, bool]:
        """Not mended, but limited: a batch of 60 has no more than 10 records to lose."""
        lost, extra, _ = self._crash_after_first_commit(max_poll_recs=60)
        return "at most 10 lost", 0 <= lost <= 10 and extra == 0

    def _crash_after_first_commit(self, **options: object) -> tuple[int, int, Program]:
        with self._run() as run:
            first = run.consumer(local_id=1, crash_after_commits=1, **EARLY, **options)
            assert first.wait() == 17, first
            second = run.consumer(local_id=2, instance_id=EARLY["instance_id"])
            second.wait_for("^nothing left")
            second.kill()
            found = difference(run.directory)
            return len(found.lost), len(found.extra), first

    # --- Too late ------------------------------------------------------------------------------

    def late_killed(self) -> tuple[str, bool]:
        """One of two consumers is killed with processed records that are not committed."""
        lost, extra, uncommitted = self._lose_a_member(Program.kill, ac_interval=60_000)
        return "what was not committed comes twice", lost == 0 and 0 < extra == uncommitted

    def late_frozen(self) -> tuple[str, bool]:
        """It is frozen beyond its session, and goes on when the other has taken over.

        Before it hears that it was thrown out it may process what it had fetched already.
        """
        lost, extra, uncommitted = self._lose_a_member(Program.freeze, ac_interval=60_000)
        return "what was not committed comes twice", lost == 0 and 0 < uncommitted <= extra

    def late_mended(self) -> tuple[str, bool]:
        """The same kill, with a commit after each batch."""
        lost, extra, _ = self._lose_a_member(Program.kill, ack_after_batch=True)
        return "at most one batch comes twice", lost == 0 and extra <= BATCH

    def late_frozen_mended(self) -> tuple[str, bool]:
        """The same freeze, with a commit after each batch: the one it froze in is refused."""
        lost, extra, _ = self._lose_a_member(Program.freeze, ack_after_batch=True)
        return "at most one batch comes twice", lost == 0 and extra <= BATCH

    def nobody_lost(self) -> tuple[str, bool]:
        """Lazy commits alone double nothing: who gives partitions up in good order commits them."""
        lost, extra, _ = self._lose_a_member(None, ac_interval=60_000)
        return "nothing lost, nothing extra", (lost, extra) == (0, 0)

    def _lose_a_member(
        self, fault: Callable[[Program], object] | None, **options: object
    ) -> tuple[int, int, int]:
        """Lost, extra, and how many records the first had processed beyond its commits."""
        with self._run() as run:
            first, second = (run.consumer(local_id=n, **LATE, **options) for n in (1, 2))
            wait_until(
                lambda: len(first.partitions) == len(second.partitions) == 3,
                timeout=30,
                what="three partitions each",
                seen=lambda: f"{first.partitions} and {second.partitions}",
            )
            done = len(first.said("records processed"))
            first.wait_for("records processed", count=done + 1)
            uncommitted = 0
            if fault is not None:
                fault(first)
                committed = self.cluster.group(run.group).offsets
                uncommitted = sum(
                    self.offsets[entry.partition, entry.key]
                    >= committed.get((entry.topic, entry.partition), 0)
                    for entry in first.payload
                )
                wait_until(
                    lambda: len(second.partitions) == 6, timeout=30, what="the other to take over"
                )
            if fault is Program.freeze:
                first.resume()
                first.wait_for("^lost ")
                wait_until(lambda: len(first.partitions) == 3, timeout=30, what="it to join again")
            run.wait_until_read()
            run.close()
            found = difference(run.directory)
            return len(found.lost), len(found.extra), uncommitted

    def _run(self) -> _Reading:
        self._number += 1
        folder = self.folder / str(self._number)
        run = _Reading(self.cluster, folder, topic="filled", group=f"group-{self._number}")
        (folder / "producer").mkdir(parents=True)
        shutil.copy(self._sent, folder / "producer" / "payload.log")
        return run


class _Reading(Run):
    """Consumers that start at the beginning and say little. No quit record: the topic is shared."""

    def consumer(self, **options: object) -> Program:
        common = {"auto_offset_reset": "earliest", "quiet": True, "poll_period": 200}
        return super().consumer(**common | options)


def _batches(consumer: Program) -> list[int]:
    return [int(line.text.split()[2]) for line in consumer.said("^batch of")]


EXPERIMENTS: dict[str, Callable[[Experiments], tuple[str, bool]]] = {
    "X6 position committed at once": Experiments.early,
    "X6 with small batches": Experiments.early_small,
    "X6 mended: what was processed": Experiments.early_mended,
    "X7 commits late, one killed": Experiments.late_killed,
    "X7 commits late, one frozen": Experiments.late_frozen,
    "X7 commits late, nobody lost": Experiments.nobody_lost,
    "X7 mended: after each batch": Experiments.late_mended,
    "X7 mended, one frozen": Experiments.late_frozen_mended,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench redelivery")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ.pop("KAFKALAB_CLUSTER", None)
    verdicts: defaultdict[str, list[bool]] = defaultdict(list)
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    words: dict[str, str] = {}

    def show() -> None:
        if options.json:
            counts = {name: {"held": sum(v), "of": len(v)} for name, v in verdicts.items()}
            print(json.dumps(counts, indent=1))
            return
        table = Table("experiment", "verdict", "held", "most s")
        for name, held in verdicts.items():
            count = f"{sum(held)} of {len(held)}"
            table.add_row(name, words[name], count, f"{max(seconds[name]):.1f}")
        Console().print(table)

    with (
        tempfile.TemporaryDirectory() as folder,
        Progress(dict.fromkeys(EXPERIMENTS, options.repeat), show) as progress,
        Cluster.start("replicated", settings=SETTINGS) as cluster,
    ):
        experiments = Experiments(cluster, Path(folder))
        for name, _ in progress.goes():
            began = time.monotonic()
            words[name], held = EXPERIMENTS[name](experiments)
            verdicts[name].append(held)
            seconds[name].append(time.monotonic() - began)
    if not all(map(all, verdicts.values())):
        sys.exit("not the same verdict each time")


if __name__ == "__main__":
    main()
