"""The class: a page for the teacher, and a table for spreadsheets."""

from __future__ import annotations

import csv
import io
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from grading.define.definition import Definition
from grading.judge.outcome import REFUSED, Outcome
from grading.keep.record import AttemptRecord, slug
from grading.keep.report_pages import in_words, page, summed

OWN_NAME = re.compile(r"-[0-9a-f]{6}\b")  # the end of the names that a student has alone
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Mark:
    """What counts for a student, and why where it is not what the run gave."""

    points: float | None
    why: str = ""


MarkOf = Callable[[AttemptRecord], Mark]


def as_run(record: AttemptRecord) -> Mark:
    """The mark that the run gave."""
    return Mark(record.reached)


@dataclass(frozen=True)
class StudentRow:
    """A hand-in in the class table."""

    record: AttemptRecord
    page: str
    mark: Mark
    tasks: list[float | None]
    says: str

    @property
    def notes(self) -> list[str]:
        return [note for note in (self.mark.why, *self.record.notes) if note]


@dataclass(frozen=True)
class Difficulty:
    """A check over the whole class."""

    id: str
    task: int
    title: str
    is_hidden: bool
    passed: int
    of: int
    share: float
    """Of the points of all, from 0 to 1."""
    seen: str
    """What was seen most often where it was not passed."""
    times: int


@dataclass(frozen=True)
class Summary:
    """The marks in three numbers: of those that have one and whose hand-in could be run."""

    count: int
    mean: float
    median: float
    tasks: list[float]
    """The mean for each task."""


def class_page(lab: Definition, records: list[AttemptRecord], mark_of: MarkOf = as_run) -> str:
    """What a teacher looks at first."""
    rows = _rows(lab, records, mark_of)
    return page(
        "class.html",
        lab=lab,
        rows=rows,
        summary=_summary(rows),
        left_out=[row for row in rows if not _is_scored(row)],
        checks=difficulties(records),
    )


def class_csv(lab: Definition, records: list[AttemptRecord], mark_of: MarkOf = as_run) -> str:
    """One line a student; no cell can become a formula of a spreadsheet."""
    written = io.StringIO()
    writer = csv.writer(written)
    ids = list(dict.fromkeys(check["id"] for record in records for check in record.checks))
    tasks = [f"task {number}" for number in lab.tasks]
    writer.writerow(["student", "outcome", "points", "of", *tasks, *ids, "says", "notes"])
    for row in _rows(lab, records, mark_of):
        record = row.record
        points = {check["id"]: check["reached"] for check in record.checks}
        cells = [record.student, record.outcome, row.mark.points, record.full, *row.tasks]
        cells += [*(points.get(name) for name in ids), row.says, "; ".join(row.notes)]
        writer.writerow([guarded(cell) for cell in cells])
    return written.getvalue()


def guarded(cell: object) -> object:
    """Text that a spreadsheet would take for a formula gets a mark in front."""
    if isinstance(cell, str) and cell.startswith(FORMULA):
        return f"'{cell}"
    return "" if cell is None else cell


def difficulties(records: Iterable[AttemptRecord]) -> list[Difficulty]:
    """For each check: how many passed it, and what was seen most often where it was not passed."""
    seen: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if record.reached is not None and record.outcome not in REFUSED:
            for check in record.checks:
                seen.setdefault(check["id"], []).append(check)
    found = []
    for name, same in seen.items():
        # What differs from student to student would hide that two saw the same.
        messages = Counter(OWN_NAME.sub("-…", m) for one in same for m in one["messages"][:1])
        message, times = messages.most_common(1)[0] if messages else ("", 0)
        one = same[-1]
        found.append(
            Difficulty(
                name,
                one["task"],
                one["title"],
                one["hidden"],
                sum(check["outcome"] == Outcome.PASS for check in same),
                len(same),
                sum(check["reached"] or 0 for check in same) / (len(same) * one["full"]),
                message,
                times,
            )
        )
    return sorted(found, key=lambda check: check.task)


def _rows(lab: Definition, records: Iterable[AttemptRecord], mark_of: MarkOf) -> list[StudentRow]:
    return [
        StudentRow(
            record,
            f"students/{slug(record.id)}.html",
            mark_of(record),
            _by_task(lab, record),
            in_words(record),
        )
        for record in records
    ]


def _by_task(lab: Definition, record: AttemptRecord) -> list[float | None]:
    if record.reached is None:
        return [None] * len(lab.tasks)
    return [
        summed(check["reached"] for check in record.checks if check["task"] == number)
        for number in lab.tasks
    ]


def _is_scored(row: StudentRow) -> bool:
    return row.mark.points is not None and row.record.outcome not in REFUSED


def _summary(rows: Sequence[StudentRow]) -> Summary | None:
    scored = [row for row in rows if _is_scored(row)]
    if not scored:
        return None
    marks = [row.mark.points or 0 for row in scored]
    by_task = zip(*(row.tasks for row in scored), strict=True)
    return Summary(
        len(scored),
        statistics.mean(marks),
        statistics.median(marks),
        [statistics.mean(part or 0 for part in parts) for parts in by_task],
    )
