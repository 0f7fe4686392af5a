"""The lanes of grading: many hand-ins, some lanes, one record each as soon as it is there.

A lane is a thread with a cluster of its own. While an attempt runs, the process for a next one
boots, in whichever lane that will be: a hand-in costs little more than the student's own seconds.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grading.define import master
from grading.define.definition import Definition
from grading.judge.outcome import Outcome
from grading.keep import record as records
from grading.keep.evidence import Evidence
from grading.keep.record import AttemptRecord
from grading.keep.store import Store
from grading.run.attempt import Attempt, Attempted
from grading.run.compiled import compile_once
from grading.run.fork_server import IS_SAFE, ForkServer
from grading.run.lease import Lease
from grading.run.loaded import loaded
from grading.run.plan import Work
from grading.run.surroundings import OPEN, Surroundings
from kafkalab.errors import CourseError

TRIES = 2  # of an attempt that a fault of ours spoilt


@dataclass(frozen=True)
class Progress:
    """Something that happened in a lane."""

    lane: int
    student: str
    event: dict[str, Any]
    record: AttemptRecord | None = None


Listener = Callable[[Progress], None]


class Lanes:
    """Runs planned work in lanes.

    server: one that was made ahead, and that its maker closes.
    """

    def __init__(
        self,
        lab: Definition,
        store: Store,
        tell: Listener = lambda _: None,
        around: Surroundings = OPEN,
        server: ForkServer | None = None,
    ) -> None:
        self.lab = lab
        self.around = around
        self.store = store
        self.tell = tell
        self.hidden = lab.hidden_checks()
        master.prove(lab)
        self.records: list[AttemptRecord] = []
        self._queue: deque[Work] = deque()
        self._is_stopped = threading.Event()
        self._errors: list[BaseException] = []
        self.open: set[Attempt] = set()
        self._ahead: deque[Attempt] = deque()
        self._jobs = 0
        self._boots = threading.Lock()
        self.server = server

    def boot_ahead(self) -> None:
        """Boot a process for an attempt to come, where none is ready for it yet."""
        with self._boots:
            wanted = min(self._jobs, len(self._queue))
            if len(self._ahead) < wanted and not self._is_stopped.is_set():
                self._ahead.append(self._boot())

    def booted(self) -> Attempt:
        """A process for an attempt: the one that has been booted longest, or a new one."""
        with contextlib.suppress(IndexError):
            return self._ahead.popleft()
        return self._boot()

    def _boot(self) -> Attempt:
        is_there = self.server is not None and self.server.is_there
        return Attempt(self.lab, self.around, self.server if is_there else None)

    def run(self, work: Sequence[Work], jobs: int) -> list[AttemptRecord]:
        """Run all of it; the records, in the order in which they came."""
        for refused in (one for one in work if one.job is None):
            self._finish(0, refused, Attempted(refusal(self.lab, refused)))
        self._queue.extend(one for one in work if one.job is not None)
        self._jobs = jobs
        if self._queue:
            compile_once()
        lanes = [
            threading.Thread(target=self._lane, args=(number,), name=f"lane {number}")
            for number in range(min(jobs, len(self._queue)))
        ]
        own: ForkServer | None = None
        try:
            if self.server is None and IS_SAFE and len(self._queue) > 1:  # alone, one is no faster
                self.server = own = ForkServer(loaded(self.lab, self.around))
            for lane in lanes:
                lane.start()
            for lane in lanes:
                lane.join()
        except BaseException:
            self._stop()
            for lane in lanes:
                if lane.ident is not None:
                    lane.join()
            raise
        finally:
            for attempt in self._ahead:
                attempt.close()
            if own is not None:
                own.close()
        if self._errors:
            raise self._errors[0]
        return self.records

    def _stop(self) -> None:
        """Interrupted: end what runs. Its records say `started`, so it will be run again."""
        self._is_stopped.set()
        for attempt in list(self.open):
            attempt.kill()

    def _lane(self, number: int) -> None:
        lane = Lane(self, number)
        try:
            while not self._is_stopped.is_set():
                try:
                    work = self._queue.popleft()
                except IndexError:
                    return
                self._one(lane, work)
        except BaseException as error:
            self._errors.append(error)
        finally:
            lane.close()

    def _one(self, lane: Lane, work: Work) -> None:
        """One hand-in, from the word `started` to its record, whatever happens."""
        struck_in = ""
        for attempt in range(1, TRIES + 1):
            began = time.monotonic()
            self.store.start(replace(work.record, started=records.now()))
            self.tell(Progress(lane.number, work.submission.student, {"event": "start"}))
            try:
                attempted = lane.attempt(work, is_last=attempt == TRIES)
            except Exception:
                attempted = Attempted(fault(self.lab, work, traceback.format_exc()))
            if self._is_stopped.is_set():
                return
            if attempted.struck_in and attempted.struck_in == struck_in:
                by_the_student(attempted)
            struck_in = attempted.struck_in
            is_spoilt = attempted.evidence.fault is Outcome.INFRA
            lane.lease.give_back(is_sound=not is_spoilt)
            attempted.evidence.phases["wall"] = round(time.monotonic() - began, 3)
            attempted.evidence.phases["load"] = round(os.getloadavg()[0] / (os.cpu_count() or 1), 1)
            if not is_spoilt or attempt == TRIES:
                self._finish(lane.number, work, attempted)
                return

    def _finish(self, number: int, work: Work, attempted: Attempted) -> None:
        begun = self.store.find(work.record.key) or work.record
        record = records.ended(begun, attempted.evidence, self.lab.checks, self.hidden)
        self.store.finish(record, attempted)
        self.store.count(record)
        self.records.append(record)
        self.tell(Progress(number, record.student, {"event": "end"}, record))


class Lane:
    """A place where attempts run one after the other: it has a cluster of its own."""

    def __init__(self, lanes: Lanes, number: int) -> None:
        self.number = number
        self.lease = Lease(lanes.lab)
        self._lanes = lanes

    def attempt(self, work: Work, is_last: bool) -> Attempted:
        """Run one; a next one boots meanwhile."""
        assert work.job is not None, "what cannot be run is refused before"
        booted = self._lanes.booted()
        self._lanes.open.add(booted)
        try:
            job = replace(work.job, cluster=self.lease.take(), is_last_try=is_last)
            return booted.run(job, lambda event: self._report(job.student, event))
        except CourseError as error:
            return Attempted(fault(self._lanes.lab, work, f"no cluster: {error}"))
        finally:
            booted.close()
            self._lanes.open.discard(booted)

    def close(self) -> None:
        """Stop what the lane holds."""
        self.lease.close()

    def _report(self, student: str, event: dict[str, Any]) -> None:
        self._lanes.tell(Progress(self.number, student, event))
        self._lanes.boot_ahead()


def fault(lab: Definition, work: Work, why: str) -> Evidence:
    """The evidence of an attempt that we could not make."""
    return Evidence(lab.name, work.submission.student, work.seed, refusal=Outcome.INFRA, why=why)


def by_the_student(attempted: Attempted) -> None:
    """Twice a signal ended the process that grades beside the same cell: that is no accident.

    What the checks had found until then counts.
    """
    evidence = attempted.evidence
    evidence.refusal, evidence.ended, evidence.is_complete = None, Outcome.KERNEL_DIED, True
    evidence.why = f"{attempted.struck_in} ended the process that runs the notebook"


def refusal(lab: Definition, work: Work) -> Evidence:
    """The evidence of a hand-in that cannot be run."""
    one = work.submission
    assert one.refusal is not None, "without a notebook it is refused"
    return Evidence.refused(lab.name, one.student, work.seed, one.refusal, one.why, one.notes)


def overhead(record: AttemptRecord) -> float | None:
    """Seconds of an attempt beyond what the student's code took."""
    with contextlib.suppress(KeyError):
        seconds = record.seconds
        return round(seconds["wall"] - seconds["cells"] - seconds["values"], 3)
    return None
