"""What is to be run of an upload, and why; the rest is graded already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grading.define.definition import Definition
from grading.define.seed import student_seed
from grading.handin.submission import Submission, as_known
from grading.judge.outcome import OURS
from grading.keep import record as records
from grading.keep.record import AttemptRecord
from grading.keep.store import Store
from grading.run.job import Job


@dataclass(frozen=True)
class Work:
    """A hand-in with its seed, what is to be run of it and why, and the record of its attempt.

    Without a job it cannot be run.
    """

    submission: Submission
    seed: str
    job: Job | None
    record: AttemptRecord
    why: str = ""


def plan(
    lab: Definition, submissions: Sequence[Submission], store: Store, secret: bytes, rerun: bool
) -> tuple[list[Work], list[AttemptRecord]]:
    """What is to be run, and why; and the records that are there already, which count."""
    to_do: list[Work] = []
    done: list[AttemptRecord] = []
    known = store.class_keys()
    for submission in as_known(submissions, known):
        seed = student_seed(secret, lab.name, submission.id)
        record = records.begun(lab, submission, seed)
        found = store.find(record.key)
        if found is not None and found.is_final and not rerun:
            store.count(found)
            done.append(found)
        else:
            former = found or store.counting(known.get(submission.id, record.key))
            why = reason(record, former)
            to_do.append(Work(submission, seed, job_of(submission, seed), record, why))
    return to_do, done


def reason(record: AttemptRecord, former: AttemptRecord | None) -> str:
    """Why a hand-in is run, against what is there of its person."""
    if former is None:
        return "new"
    if former.status == records.STARTED:
        return "cut off before"
    if former.hand_in != record.hand_in:
        return "another hand-in"
    if former.outcome in OURS:
        return "a fault of the grader before"
    if former.lab_digest != record.lab_digest:
        return "the lab changed"
    if former.grader != record.grader:
        return "the grader changed"
    return "asked for"


def job_of(submission: Submission, seed: str) -> Job | None:
    """What is to be run of a hand-in."""
    if submission.notebook is None:
        return None
    return Job(submission.student, seed, submission.notebook.cells, notes=submission.notes)
