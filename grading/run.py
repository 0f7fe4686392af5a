"""A batch: many hand-ins, some slots, one record each as soon as it is there.

A slot is a thread with a cluster of its own. While an attempt runs, the process for the next one
boots, so a hand-in costs little more than the student's own seconds.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grading import record as records
from grading.attempt import Attempt, Attempted, Job
from grading.definition import Definition
from grading.evidence import Evidence
from grading.intake import Submission
from grading.lease import Lease
from grading.outcome import Outcome
from grading.record import Record, Store
from grading.seed import student_seed
from kafkalab.errors import CourseError

TRIES = 2  # of an attempt that a fault of ours spoilt


@dataclass(frozen=True)
class Work:
    """A hand-in with its seed and the record of the attempt that it needs."""

    submission: Submission
    seed: str
    record: Record


@dataclass(frozen=True)
class Progress:
    """Something that happened in a slot."""

    slot: int
    student: str
    event: dict[str, Any]
    record: Record | None = None


Watch = Callable[[Progress], None]


def plan(
    lab: Definition, submissions: Sequence[Submission], store: Store, secret: bytes, rerun: bool
) -> tuple[list[Work], list[Record]]:
    """What is to be run, and the records that are there already."""
    to_do: list[Work] = []
    done: list[Record] = []
    for submission in submissions:
        seed = student_seed(secret, lab.name, submission.student)
        work = Work(submission, seed, records.begun(lab, submission, seed))
        found = store.find(work.record.key)
        if found is not None and found.is_final and not rerun:
            done.append(found)
        else:
            to_do.append(work)
    keys = {work.record.student: work.record.key for work in to_do}
    store.set_class(keys | {record.student: record.key for record in done})
    return to_do, done


class Batch:
    """Runs planned work in slots."""

    def __init__(
        self, lab: Definition, store: Store, watch: Watch = lambda _: None, root: Path | None = None
    ) -> None:
        self.lab = lab
        self.store = store
        self.watch = watch
        self.root = root
        self.hidden = lab.hidden_checks()
        self.records: list[Record] = []
        self._queue: deque[Work] = deque()
        self._is_stopped = threading.Event()
        self._open: set[Attempt] = set()

    def run(self, work: Sequence[Work], jobs: int) -> list[Record]:
        """Run all of it; the records, in the order in which they came."""
        for refused in (one for one in work if one.submission.notebook is None):
            self._finish(0, refused, Attempted(refusal(self.lab, refused)))
        self._queue.extend(one for one in work if one.submission.notebook is not None)
        slots = [
            threading.Thread(target=self._slot, args=(number,), name=f"slot {number}")
            for number in range(min(jobs, len(self._queue)))
        ]
        for slot in slots:
            slot.start()
        try:
            for slot in slots:
                slot.join()
        except BaseException:
            self._stop()
            for slot in slots:
                slot.join()
            raise
        return self.records

    def _stop(self) -> None:
        """Interrupted: end what runs. Its records say `started`, so it will be run again."""
        self._is_stopped.set()
        for attempt in list(self._open):
            attempt.kill()

    def _slot(self, number: int) -> None:
        lease = Lease(self.lab)
        spare: Attempt | None = None
        try:
            while not self._is_stopped.is_set():
                try:
                    work = self._queue.popleft()
                except IndexError:
                    return
                for attempt_number in range(1, TRIES + 1):
                    began = time.monotonic()
                    self.store.start(replace(work.record, started=records.now()))
                    self.watch(Progress(number, work.submission.student, {"event": "start"}))
                    booted, spare = spare or self._boot(), None
                    attempted, spare = self._attempt(number, work, booted, lease)
                    if self._is_stopped.is_set():
                        return
                    fault = attempted.evidence.fault
                    lease.give_back(is_sound=fault is not Outcome.INFRA)
                    attempted.evidence.phases["wall"] = round(time.monotonic() - began, 3)
                    if fault is not Outcome.INFRA or attempt_number == TRIES:
                        self._finish(number, work, attempted)
                        break
        finally:
            if spare is not None:
                spare.close()
            lease.close()

    def _attempt(
        self, number: int, work: Work, booted: Attempt, lease: Lease
    ) -> tuple[Attempted, Attempt | None]:
        """Run one, and boot the next meanwhile."""
        student = work.submission.student
        spare: Attempt | None = None

        def report(event: dict[str, Any]) -> None:
            nonlocal spare
            self.watch(Progress(number, student, event))
            if spare is None and self._queue and not self._is_stopped.is_set():
                spare = self._boot()

        evidence = Evidence(self.lab.name, student, work.seed)
        try:
            cluster = lease.take()
        except CourseError as error:
            booted.close()
            evidence.refusal, evidence.why = Outcome.INFRA, f"no cluster: {error}"
            return Attempted(evidence), None
        notebook = work.submission.notebook
        job = Job(student, work.seed, notebook.cells, cluster, True, work.submission.notes)
        self._open.add(booted)
        try:
            return booted.run(job, report), spare
        finally:
            self._open.discard(booted)

    def _boot(self) -> Attempt:
        return Attempt(self.lab, self.root)

    def _finish(self, number: int, work: Work, attempted: Attempted) -> None:
        begun = self.store.find(work.record.key) or work.record
        record = records.ended(begun, attempted.evidence, self.lab.checks, self.hidden)
        self.store.finish(record, attempted)
        self.records.append(record)
        self.watch(Progress(number, record.student, {"event": "end"}, record))


def refusal(lab: Definition, work: Work) -> Evidence:
    """The evidence of a hand-in that cannot be run."""
    submission = work.submission
    return Evidence(
        lab.name,
        submission.student,
        work.seed,
        oddities=list(submission.notes),
        refusal=submission.refusal,
        why=submission.why,
        is_complete=True,
    )


def overhead(record: Record) -> float | None:
    """Seconds of an attempt beyond the student's own cells."""
    with contextlib.suppress(KeyError):
        return round(record.seconds["wall"] - record.seconds["cells"], 3)
    return None
