"""Records on disk: one folder for each attempt, written whole or not at all.

    COURSE/secret                       what the parameters of students are drawn from
    COURSE/LAB/attempts/KEY/record.json     `started`, then replaced by the result
                           /evidence.json   what was seen; points can be made of it again
                           /run.ipynb       the notebook that ran, with its outputs
    COURSE/LAB/class.json               the attempt that counts for each student now

Nothing is changed afterwards. Another hand-in, another version of the lab or of the grader is
another attempt with another key, so a run that was cut off goes on where it stopped.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import unicodedata
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from grading.define.definition import Definition
from grading.handin.intake import Submission
from grading.judge.checks import Check
from grading.judge.outcome import OURS, Outcome
from grading.judge.score import of_check, total
from grading.keep.digest import grader_digest
from grading.keep.evidence import Evidence, headline
from grading.run.attempt import Attempted
from kafkalab.files import write_whole

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


class Store:
    """The records of one lab in a course folder."""

    def __init__(self, course: Path, lab: str) -> None:
        self.course = course
        self.folder = course / lab
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def attempt(self, key: str) -> Path:
        """The folder of an attempt."""
        return self.folder / "attempts" / key

    def find(self, key: str) -> AttemptRecord | None:
        """The record of an attempt, if there is one that can be read."""
        try:
            table = json.loads((self.attempt(key) / "record.json").read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        outcome = Outcome(table["outcome"]) if table["outcome"] else None
        return AttemptRecord(**table | {"outcome": outcome})

    def evidence(self, key: str) -> Evidence | None:
        """What was seen in an attempt."""
        file = self.attempt(key) / "evidence.json"
        return Evidence.from_json(json.loads(file.read_text("utf-8"))) if file.exists() else None

    def notebook(self, key: str) -> str | None:
        """The text of the notebook that ran in an attempt, with its outputs."""
        file = self.attempt(key) / "run.ipynb"
        return file.read_text("utf-8") if file.exists() else None

    def start(self, record: AttemptRecord) -> None:
        """Write that an attempt began; a left-over of this kind is run again.

        What an earlier attempt with the same key left stays beside it, as KEY.1, KEY.2, …
        """
        folder = self.attempt(record.key)
        before = self.find(record.key)
        if before is not None and before.status == FINISHED:
            number = len(list(folder.parent.glob(f"{record.key}.*"))) + 1
            folder.rename(folder.with_name(f"{record.key}.{number}"))
        write_whole(self.attempt(record.key) / "record.json", as_text(asdict(record)))

    def finish(self, record: AttemptRecord, attempted: Attempted) -> None:
        """Write what came out. The record is last: it says that the rest is there."""
        folder = self.attempt(record.key)
        write_whole(folder / "evidence.json", as_text(attempted.evidence.to_json()))
        if attempted.notebook is not None:
            write_whole(folder / "run.ipynb", as_text(attempted.notebook))
        write_whole(folder / "record.json", as_text(asdict(record)))

    def set_class(self, keys: dict[str, str]) -> None:
        """Which attempt counts for each student from now on."""
        write_whole(self.folder / "class.json", as_text(self.class_keys() | keys))

    def class_keys(self) -> dict[str, str]:
        """Student -> key of the attempt that counts."""
        file = self.folder / "class.json"
        return json.loads(file.read_text("utf-8")) if file.exists() else {}

    def class_records(self) -> list[AttemptRecord]:
        """The record that counts for each student, in the order of their names."""
        found = (self.find(key) for _, key in sorted(self.class_keys().items()))
        return [record for record in found if record is not None]


def begun(lab: Definition, submission: Submission, seed: str) -> AttemptRecord:
    """The record of an attempt that is about to begin."""
    hand_in = submission.notebook.digest if submission.notebook else f"none: {submission.why}"
    key = Key(hand_in, lab.digest, grader_digest(lab.place), seed)
    return AttemptRecord(
        key=str(key),
        student=submission.student,
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
    """The record of an attempt that came to its end: the score, which is made of evidence alone."""
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
    return AttemptRecord(
        **asdict(record)
        | {
            "status": FINISHED,
            "finished": now(),
            "outcome": headline(evidence, reached, points.full),
            "why": evidence.why,
            "reached": reached,
            "full": points.full,
            "checks": lines,
            "notes": evidence.oddities,
            "seconds": evidence.phases,
        }
    )


def slug(student: str) -> str:
    """A file name for a student: readable letters, and a hash that tells people apart."""
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    letters = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40]
    return f"{letters or 'student'}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"


def now() -> str:
    """Time with its zone."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def as_text(table: Any) -> str:
    return json.dumps(table, ensure_ascii=False, indent=1) + "\n"
