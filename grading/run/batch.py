"""A batch: many hand-ins, some slots, one record each as soon as it is there.

A slot is a thread with a cluster of its own. While an attempt runs, the process for the next one
boots, so a hand-in costs little more than the student's own seconds.
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
from grading.define.seed import student_seed
from grading.handin.intake import Submission
from grading.judge.outcome import Outcome
from grading.keep import record as records
from grading.keep.evidence import Evidence
from grading.keep.record import Record, Store
from grading.run.attempt import Attempt, Attempted, Job
from grading.run.lease import Lease
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

    def __init__(self, lab: Definition, store: Store, watch: Watch = lambda _: None) -> None:
        self.lab = lab
        self.store = store
        self.watch = watch
        self.hidden = lab.hidden_checks()
        master.prove(lab)
        self.records: list[Record] = []
        self._queue: deque[Work] = deque()
        self._is_stopped = threading.Event()
        self._errors: list[BaseException] = []
        self.open: set[Attempt] = set()

    @property
    def has_more(self) -> bool:
        """Whether a slot that is done will find something to do."""
        return bool(self._queue) and not self._is_stopped.is_set()

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
        if self._errors:
            raise self._errors[0]
        return self.records

    def _stop(self) -> None:
        """Interrupted: end what runs. Its records say `started`, so it will be run again."""
        self._is_stopped.set()
        for attempt in list(self.open):
            attempt.kill()

    def _slot(self, number: int) -> None:
        slot = Slot(self, number)
        try:
            while not self._is_stopped.is_set():
                try:
                    work = self._queue.popleft()
                except IndexError:
                    return
                self._one(slot, work)
        except BaseException as error:
            self._errors.append(error)
        finally:
            slot.close()

    def _one(self, slot: Slot, work: Work) -> None:
        """One hand-in, from the word `started` to its record, whatever happens."""
        for attempt in range(1, TRIES + 1):
            began = time.monotonic()
            self.store.start(replace(work.record, started=records.now()))
            self.watch(Progress(slot.number, work.submission.student, {"event": "start"}))
            try:
                attempted = slot.attempt(work)
            except Exception:
                attempted = Attempted(fault(self.lab, work, traceback.format_exc()))
            if self._is_stopped.is_set():
                return
            is_spoilt = attempted.evidence.fault is Outcome.INFRA
            slot.lease.give_back(is_sound=not is_spoilt)
            attempted.evidence.phases["wall"] = round(time.monotonic() - began, 3)
            attempted.evidence.phases["load"] = round(os.getloadavg()[0] / (os.cpu_count() or 1), 1)
            if not is_spoilt or attempt == TRIES:
                self._finish(slot.number, work, attempted)
                return

    def _finish(self, number: int, work: Work, attempted: Attempted) -> None:
        begun = self.store.find(work.record.key) or work.record
        record = records.ended(begun, attempted.evidence, self.lab.checks, self.hidden)
        self.store.finish(record, attempted)
        self.records.append(record)
        self.watch(Progress(number, record.student, {"event": "end"}, record))


class Slot:
    """A place where attempts run one after the other: a cluster, and a process booted ahead."""

    def __init__(self, batch: Batch, number: int) -> None:
        self.batch = batch
        self.number = number
        self.lease = Lease(batch.lab)
        self.spare: Attempt | None = None

    def attempt(self, work: Work) -> Attempted:
        """Run one, and boot the next meanwhile."""
        booted, self.spare = self.spare or Attempt(self.batch.lab), None
        self.batch.open.add(booted)
        try:
            cluster = self.lease.take()
            submission = work.submission
            job = Job(
                submission.student,
                work.seed,
                submission.notebook.cells,
                cluster,
                notes=submission.notes,
            )
            return booted.run(job, lambda event: self._report(submission.student, event))
        except CourseError as error:
            return Attempted(fault(self.batch.lab, work, f"no cluster: {error}"))
        finally:
            booted.close()
            self.batch.open.discard(booted)

    def close(self) -> None:
        """Stop what the slot holds."""
        if self.spare is not None:
            self.spare.close()
        self.lease.close()

    def _report(self, student: str, event: dict[str, Any]) -> None:
        self.batch.watch(Progress(self.number, student, event))
        if self.spare is None and self.batch.has_more:
            self.spare = Attempt(self.batch.lab)


def fault(lab: Definition, work: Work, why: str) -> Evidence:
    """The evidence of an attempt that we could not make."""
    return Evidence(lab.name, work.submission.student, work.seed, refusal=Outcome.INFRA, why=why)


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
    """Seconds of an attempt beyond what the student's code took."""
    with contextlib.suppress(KeyError):
        seconds = record.seconds
        return round(seconds["wall"] - seconds["cells"] - seconds["values"], 3)
    return None
