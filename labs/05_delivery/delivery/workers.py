"""A consumer loop of your own, as a process that can be killed or frozen like a broker.

    first = start(run, read_on, 1, "done", pause_ms=20, max_poll_records=100)

`read_on(consumer, process, goes_on)` is a function of a cell that imports what it needs. It polls
while `goes_on()`, calls `process(record)` for each record, and commits when it thinks fit. More
arguments of `start` are handed to it, as JSON carries them. To process a record means to send
its key to the topic `results`, with the number of the worker as a header, and then to write a line
into the payload log. The settings are those of a KafkaConsumer.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafka import KafkaConsumer, KafkaProducer
from kafka.consumer.fetcher import ConsumerRecord

from delivery.output import pause
from delivery.payload import Entry, PayloadLog, path_of
from delivery.programs import Program
from delivery.run import Run
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until

SETTINGS = {
    "auto_offset_reset": "earliest",
    "enable_auto_commit": False,
    "session_timeout_ms": 6_000,
    "heartbeat_interval_ms": 500,
    "reconnect_backoff_max_ms": 1_000,
}


class Worker(Program):
    """A running loop."""

    def finish(self) -> int:
        """Tell the loop that it need not go on; the exit status when it has ended."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self.wait()


def start(
    run: Run,
    loop: Callable[..., object],
    number: int,
    results: str,
    *arguments: Any,
    pause_ms: int = 0,
    **settings: Any,
) -> Worker:
    """Run a loop in the group of a run, as the process `worker-NUMBER`."""
    folder = run.directory.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"worker-{number}.py"
    source.write_text(inspect.getsource(loop), "utf-8")
    job = {
        "loop": loop.__name__,
        "bootstrap": run.cluster.address,
        "topic": run.topic,
        "results": results,
        "number": number,
        "arguments": arguments,
        "pause_ms": pause_ms,
        "directory": str(folder),
        "settings": {**SETTINGS, "group_id": run.group, **settings},
    }
    above = str(Path(__file__).resolve().parent.parent)
    paths = [above, *filter(None, [os.environ.get("PYTHONPATH")])]
    name = f"worker-{number}"
    process = subprocess.Popen(
        [sys.executable, "-m", "delivery.workers", name, str(source), json.dumps(job)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="backslashreplace",
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        start_new_session=True,
    )
    log = path_of(folder, "consumer", number)
    worker = Worker(name, process, log, path_of(folder, "consumer", number, "failed"))
    run.programs.append(worker)
    return worker


def wait_for_members(run: Run, count: int, timeout: float = 30) -> None:
    """Until so many workers share the topic of a run; one that has ended is an error."""

    def all_share() -> bool:
        for worker in run.programs[-count:]:
            if worker.status is not None:
                raise CourseError(
                    f"A worker has ended with status {worker.wait()}.",
                    f"Its last words: {worker.tail()}",
                )
        view = run.cluster.group_now(run.group)
        return view is not None and view.state == "STABLE" and len(view.members) == count

    wait_until(all_share, timeout=timeout, what=f"{count} members of {run.group}")


def read_to_the_end(run: Run, timeout: float = 60) -> list[int]:
    """Until the group has committed everything; then its workers finish. Their exit statuses."""
    ends = {p.partition: p.end_offset for p in run.cluster.topic(run.topic).partitions}

    def is_done() -> bool:
        # Asked before the offsets are: who has ended commits nothing more.
        nobody_works = all(one.status is not None for one in run.programs)
        offsets = run.cluster.group(run.group).offsets
        if {n: offsets.get((run.topic, n)) for n in ends} == ends:
            return True
        if nobody_works and run.programs:
            last = run.programs[-1]
            raise CourseError(
                f"Every worker has ended, and {run.group} has not committed all of {run.topic}.",
                f"The last one ended with status {last.wait()}. Its last words: {last.tail()}",
            )
        return False

    wait_until(is_done, timeout=timeout, what=f"{run.group} to commit the end of {run.topic}")
    return [
        program.finish()
        for program in run.programs
        if isinstance(program, Worker) and program.status is None
    ]


def work(source: str, job: dict[str, Any]) -> None:
    """Run the loop in this process, until standard input ends."""
    names: dict[str, Any] = {}
    exec(compile(source, "the loop", "exec"), names)
    told = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), told.set()), daemon=True).start()
    producer = KafkaProducer(bootstrap_servers=job["bootstrap"], acks="all")
    log = PayloadLog(path_of(job["directory"], "consumer", job["number"]), truncate=True)

    def process(record: ConsumerRecord) -> None:
        header = [("worker", str(job["number"]).encode())]
        sent = producer.send(job["results"], key=record.key, value=record.value, headers=header)
        sent.get(timeout=30)
        log.write(Entry.of(record.topic, record.partition, record.key, record.value))
        pause(job["pause_ms"])

    consumer = KafkaConsumer(job["topic"], bootstrap_servers=job["bootstrap"], **job["settings"])
    names[job["loop"]](consumer, process, lambda: not told.is_set(), *job["arguments"])
    consumer.close()


if __name__ == "__main__":
    work(Path(sys.argv[2]).read_text("utf-8"), json.loads(sys.argv[3]))
