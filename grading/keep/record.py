"""What a teacher keeps of an attempt, and how it is made: begun, ended, scored.

Points are made of evidence alone, so they can be made again. grading/keep/store.py keeps records.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from grading.define.definition import Definition
from grading.handin.submission import Submission
from grading.judge.checks import Check
from grading.judge.outcome import OURS, Outcome
from grading.judge.score import of_check, total
from grading.keep.digest import grader_digest
from grading.keep.evidence import Evidence, headline

STARTED, FINISHED = "started", "finished"


@dataclass(frozen=True)
class AttemptRecord:
    """What a teacher keeps of an attempt."""

    key: str
    student: str
    lab: str
    lab_digest: str
    grader: str
    hand_in: str
    status: str
    started: str
    finished: str = ""
    outcome: Outcome | None = None
    why: str = ""
    reached: float | None = None
    full: float = 0.0
    checks: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    person: str = ""
    """Whom it belongs to; "" in records of before, where the name had to do."""
    number: str = ""
    """The learning platform's number or login."""
    plain: str = ""
    """The name, without a number that tells two of one name apart."""
    login: str = ""
    handed_in: str = ""
    """The platform's time; "" where it told none."""
    platform: str = ""
    """Whose number it is."""

    @property
    def id(self) -> str:
        """Whom it belongs to, in the class table, in seeds and in decisions."""
        return self.person or self.student

    @property
    def is_final(self) -> bool:
        """Whether running it again would tell nothing new. A fault of ours is never final."""
        return self.status == FINISHED and self.outcome not in OURS


@dataclass(frozen=True)
class Key:
    """What makes two attempts the same."""

    hand_in: str
    lab_digest: str
    grader: str
    seed: str

    def __str__(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:20]


def begun(lab: Definition, submission: Submission, seed: str) -> AttemptRecord:
    """The record of an attempt that is about to begin."""
    hand_in = submission.notebook.digest if submission.notebook else f"none: {submission.why}"
    key = Key(hand_in, lab.digest, grader_digest(lab.place), seed)
    return AttemptRecord(
        key=str(key),
        student=submission.student,
        person=submission.id,
        number=submission.number,
        plain=submission.plain or submission.student,
        login=submission.login,
        handed_in=submission.handed_in,
        platform=submission.platform,
        lab=lab.name,
        lab_digest=lab.digest,
        grader=key.grader,
        hand_in=hand_in,
        status=STARTED,
        started=now(),
    )


def ended(
    record: AttemptRecord, evidence: Evidence, checks: tuple[Check, ...], hidden: tuple[Check, ...]
) -> AttemptRecord:
    """The record of an attempt that came to its end."""
    done = replace(record, status=FINISHED, finished=now(), seconds=evidence.phases)
    return scored(done, evidence, checks, hidden)


def scored(
    record: AttemptRecord, evidence: Evidence, checks: tuple[Check, ...], hidden: tuple[Check, ...]
) -> AttemptRecord:
    """The record with its points, which are made of evidence alone."""
    results = {result.check: result for result in evidence.results}
    points = total((*checks, *hidden), results)
    is_unknown = evidence.fault is not None
    lines = []
    for check in (*checks, *hidden):
        result = results.get(check.id)
        lines.append(
            {
                "id": check.id,
                "task": check.task,
                "title": check.title,
                "hidden": check in hidden,
                "outcome": result.outcome if result else Outcome.NOT_REACHED,
                "reached": of_check(check, result).reached,
                "full": check.points,
                "messages": result.messages if result else [],
                "detail": result.detail if result else "",
                "seconds": result.seconds if result else 0.0,
            }
        )
    reached = None if is_unknown else points.reached
    return replace(
        record,
        outcome=headline(evidence, reached, points.full),
        why=evidence.why,
        reached=reached,
        full=points.full,
        checks=lines,
        notes=list(evidence.oddities),
    )


def now() -> str:
    """Time with its zone."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
