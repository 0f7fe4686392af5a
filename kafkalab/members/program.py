"""The process of a member: it runs the lines of a cell, and sees to it that they end.

What to run comes through standard input, which stays open as the line to the starter; the events
go to an open file, given by its descriptor. At hand for the lines are what they were given, and

    note(what, **facts)   writes an event down
    running()             False from the moment at which the member shall end
    work(seconds)         has its hands full for so long, or until its starter says `let_go`, and
                          notes `works`; 0 is no work
    told                  a listener that notes `assigned`, `revoked` and `lost`; its methods
                          `on_assign`, `on_revoke` and `on_lost` are confluent-kafka's

besides KafkaConsumer, TopicPartition, os and signal.
"""

from __future__ import annotations

import linecache
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition

import kafkalab  # noqa: F401 - mends kafka-python when that is imported
from kafkalab.machine import lifeline
from kafkalab.members.events import Event

# Seconds for lines that shall end. A poll or a commit that is under way may need its whole time.
GRACE = 10


@dataclass(frozen=True)
class Errand:
    """What a member is to run; all that `given` holds is a name in its lines."""

    text: str
    name: str
    limit: float
    given: dict[str, Any]


class Diary:
    """Where a member writes its events down, one write for each, and why it ended."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._nobody_sets_it = threading.Event()
        self._let_go = False
        self.reason = ""

    def note(self, what: str, **facts: Any) -> None:
        """Write an event down. It is in the file when this returns, whatever comes then."""
        os.write(self._descriptor, Event(what, time.monotonic_ns(), facts).line())

    def running(self) -> bool:
        """Whether the member is to go on."""
        return not self.reason

    def work(self, seconds: float) -> None:
        """What a record makes its reader do. Nothing else of the lines runs meanwhile."""
        if not seconds:
            return
        self._let_go = False
        self.note("works", seconds=seconds)
        over = time.monotonic() + seconds
        while not self._let_go and self.running() and (left := over - time.monotonic()) > 0:
            self._nobody_sets_it.wait(min(left, 0.05))

    def let_go(self) -> None:
        """End the work in hand. Both are called by signals, and so they take no lock."""
        self._let_go = True

    def stop(self, reason: str) -> None:
        """Let the member end, once its lines look at `running`."""
        self.reason = self.reason or reason

    def end(self, reason: str) -> None:
        """Let the member end, and by force where its lines do not look at `running`."""
        self.stop(reason)
        lifeline.end(GRACE)


class Told(ConsumerRebalanceListener):
    """Notes what a group gives, also where it is nothing, and what it takes.

    It writes a line and does not wait for anything: kafka-python calls it in the thread that sends
    the heartbeats.
    """

    def __init__(self, diary: Diary) -> None:
        self._diary = diary

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._note("assigned", assigned)

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        if revoked:  # kafka-python tells of a first join, too
            self._note("revoked", revoked)

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        self._note("lost", lost)

    def on_assign(self, _: object, places: Iterable[TopicPartition]) -> None:
        self._note("assigned", places)

    def on_revoke(self, _: object, places: Iterable[TopicPartition]) -> None:
        self._note("revoked", places)

    def on_lost(self, _: object, places: Iterable[TopicPartition]) -> None:
        self._note("lost", places)

    def _note(self, what: str, places: Iterable[TopicPartition]) -> None:
        self._diary.note(what, partitions=sorted([p.topic, p.partition] for p in places))


def main(descriptor: int) -> None:
    errand: Errand = pickle.load(sys.stdin.buffer)
    diary = Diary(descriptor)

    def stop(*_: object) -> None:
        diary.stop("stopped")

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGUSR1, lambda *_: diary.let_go())
    # After a freeze, when the starter is gone: see `Member`. The line says the same.
    signal.signal(signal.SIGHUP, stop)
    lifeline.hold(lambda: diary.end("its starter has ended"))
    at_limit = threading.Timer(errand.limit, diary.end, ["its time was over"])
    at_limit.daemon = True
    at_limit.start()
    # So that the lines of the cell stand in the report of a fault.
    file = f"<{errand.name}>"
    linecache.cache[file] = (len(errand.text), None, errand.text.splitlines(keepends=True), file)
    names = {
        "KafkaConsumer": KafkaConsumer,
        "TopicPartition": TopicPartition,
        "os": os,
        "signal": signal,
        "name": errand.name,
        "note": diary.note,
        "running": diary.running,
        "work": diary.work,
        "told": Told(diary),
        **errand.given,
    }
    diary.note("started")
    try:
        exec(compile(errand.text, file, "exec"), names)
    except Exception as error:
        diary.note("ended", why=f"{type(error).__name__}: {error}")
        ours = error.__traceback__
        traceback.print_exception(error.with_traceback(ours and ours.tb_next))
        sys.exit(1)
    diary.note("ended", why=diary.reason or "done")
