"""What surrounds the programs of lab 07: their desk, and who starts them again.

A program is a function of the notebook that gets a `Workplace`. It runs as a process of its own,
with what the function uses, so that it can be killed. `keep_running` stays in the notebook: it
starts the programs, and starts again what has died.

    python shop.py NAME PROGRAM JOB
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

from kafka import KafkaConsumer, TopicPartition

from grading.run import pace
from kafkalab import quick, wait_until
from kafkalab.errors import CourseError

BOOKS = """
CREATE TABLE IF NOT EXISTS trades (part INTEGER, "offset" INTEGER, stock TEXT, cents INTEGER);
CREATE TABLE IF NOT EXISTS prices
    (stock TEXT PRIMARY KEY, cents INTEGER, part INTEGER, "offset" INTEGER);
CREATE TABLE IF NOT EXISTS offsets (part INTEGER PRIMARY KEY, next INTEGER);
"""
SETTINGS = quick.consumer | {
    "enable_auto_commit": False,
    "auto_offset_reset": "earliest",
    "session_timeout_ms": 4_000,
    "heartbeat_interval_ms": 300,
    "key_deserializer": bytes.decode,
    "value_deserializer": json.loads,
}
PATIENCE = 110  # seconds for a stage, on a quiet machine
A_WHILE = 15  # seconds for a broker to answer
FAREWELL = 20  # seconds for a program to end when it is told to
MOST_ENDS = 8  # by itself
SAID = 2_000  # letters
MOST_FORETOLD = 1_000_000


def open_books(file):
    """A connection to a database with the three tables.

    Python begins a transaction before the first row is written. A statement waits two seconds for
    somebody else's lock.
    """
    db = sqlite3.connect(file, timeout=2, check_same_thread=False)
    db.executescript(BOOKS)
    return db


def poor_book(db, part, records, tell):
    """In place of a `book` that is not there: a kill between its two commits loses a batch."""
    db.execute("REPLACE INTO offsets VALUES (?, ?)", (part, records[-1].offset + 1))
    db.commit()
    for record in records:
        row = (part, record.offset, record.key, record.value["cents"])
        db.execute("INSERT INTO trades VALUES (?, ?, ?, ?)", row)
    db.commit()
    tell()


def poor_next_offset(db, part):
    """In place of a `next_offset` that is not there."""
    found = db.execute("SELECT next FROM offsets WHERE part = ?", (part,)).fetchone()
    return found[0] if found else 0


POOR = {"book": poor_book, "next_offset": poor_next_offset}


class Workplace:
    """What a program works with."""

    def __init__(self, name, job):
        self.topic, self.file = job["topic"], job["file"]
        self.consumer = KafkaConsumer(
            bootstrap_servers=job["address"],
            client_id=name,
            group_id=self.topic,
            max_poll_records=job["batch"],
            **SETTINGS,
        )
        self.places = [TopicPartition(self.topic, number) for number in range(job["partitions"])]
        self.db = open_books(self.file)
        self._told = []
        signal.signal(signal.SIGTERM, lambda *_: self._told.append(True))

    def is_open(self):
        """Whether the program is to go on."""
        return not self._told

    def close(self):
        """Leave the group, close the books."""
        self.consumer.close()
        self.db.close()


def packed(program):
    """The function with what it uses, as bytes."""
    from pyspark import cloudpickle

    try:
        return cloudpickle.dumps(program)
    except (TypeError, pickle.PicklingError) as error:
        raise CourseError(
            "Your function uses something that cannot leave the notebook.",
            f"{error}. A consumer, a connection and `lab` are such things.",
            "Take what it is given as arguments instead.",
        ) from None


def start(name, program, job):
    """The program as a process; what it says stands in `NAME.txt`."""
    Path(f"{name}.program").write_bytes(program)
    with Path(f"{name}.txt").open("w") as said:
        return subprocess.Popen(
            [sys.executable, str(Path(__file__)), name, f"{name}.program", json.dumps(job)],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )


def keep_running(lab, program, topic, file, stages=(("clerk-1",),)):
    """Run the program under the names of each stage, and start again what dies.

    When the bell rings (a record in the topic `lab.p.bell`) the next stage begins; who is not in it
    is told to end. Returns how they ended, as pairs of name and status: a signal has a minus.
    """
    view = told(lab, topic)
    if view.records:
        raise CourseError(
            f"{topic} has {view.records} records of an earlier run.",
            "The program is to find an empty topic and no books.",
            "Run the cell in front of the task again, then this one.",
        )
    job = {"address": lab.cluster.address, "topic": topic, "file": file, "batch": lab.p.batch}
    job |= {"foretold": foretold(), "poor": topic != lab.p.killed}
    run = functools.partial(
        start, program=packed(program), job=job | {"partitions": len(view.partitions)}
    )
    before, ends, sent_home, running = told(lab, lab.p.bell).records, [], [], {}

    def look_after(number):
        """Whether the stage is over."""
        for name in [name for name, one in running.items() if one.poll() is not None]:
            ends.append((name, running.pop(name).wait()))
            if sum(status >= 0 for _, status in ends) >= MOST_ENDS:
                raise ends_by_itself(name, Path(f"{name}.txt").read_text(errors="replace"))
        for name in set(stages[number]) - running.keys():
            running[name] = run(name)
        with contextlib.suppress(CourseError):  # a broker that is busy: asked again in a moment
            return lab.cluster.topic(lab.p.bell).records > before + number
        return False

    try:
        for number, stage in enumerate((*stages, ())):
            going = {name: running.pop(name) for name in running.keys() - set(stage)}
            sent_home += going.items()
            for one in going.values():
                one.terminate()
            for one in going.values():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    one.wait(timeout=FAREWELL * pace.now())
                one.kill()
            if number < len(stages):
                look = functools.partial(look_after, number)
                wait_until(look, timeout=PATIENCE * pace.now(), what="the bell", every=0.1)
    finally:
        for one in (*running.values(), *(one for _, one in sent_home)):
            one.kill()
            one.wait()
    return ends + [(name, one.returncode) for name, one in sent_home]


def ends_by_itself(name, said):
    """The error of somebody who is started in vain: the cause first, then how it came."""
    cause = (said.strip().splitlines() or ["it says nothing"])[-1]
    return CourseError(f"{name} ends by itself, again and again: {cause}", said[-SAID:])


def foretold():
    """The prediction of task 1 as it stands when the clerk is about to begin."""
    from IPython import get_ipython  # not for the clerks, who are to start soon

    with contextlib.suppress(Exception):
        said = int(get_ipython().user_ns["predicted_1"])
        return said if 0 <= said < MOST_FORETOLD else None
    return None


def told(lab, topic):
    """The topic, from a broker that may be busy at first."""
    return wait_until(
        functools.partial(lab.cluster.topic, topic),
        timeout=A_WHILE * pace.now(),
        what=f"what a broker tells of {topic}",
        not_yet=(CourseError,),
    )


def main(name, program, job):
    """The process."""
    terms = json.loads(job)
    desk = Workplace(name, terms)
    work = pickle.loads(Path(program).read_bytes())
    if terms["poor"]:  # whose task it is to write them does without
        for name_of, poor in POOR.items():
            getattr(work, "__globals__", {}).setdefault(name_of, poor)
    work(desk)
    desk.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
