"""The class: a page for the teacher, and a table for spreadsheets."""

from __future__ import annotations

import csv
import io
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grading.book.spreadsheet import guarded
from grading.define.definition import Definition
from grading.judge.outcome import REFUSED, Outcome
from grading.keep.record import AttemptRecord
from grading.keep.report_pages import page, summed
from grading.keep.store import slug
from grading.keep.words import in_words

OWN_NAME = re.compile(r"-[0-9a-f]{6}\b")  # the end of the names that a student has alone


@dataclass(frozen=True)
class MarkShown:
    """What counts for a student, and why where it is not what the run gave."""

    points: float | None
    why: str = ""
    number: str = ""
    """Their id in the class."""
    section: str = ""
    checks: Mapping[str, float | str | None] = field(default_factory=dict)
    """Check -> points that count, or a word, where that is not what the run gave."""
    full: float | None = None
    """Where something does not count."""
    instead: str = "?"
    """What stands where there are no points."""

    @property
    def cell(self) -> float | str:
        """What a table has: points, or the word for why there are none."""
        return self.instead if self.points is None else self.points


@dataclass(frozen=True)
class Missing:
    """Somebody of the class of whom nothing is graded."""

    student: str
    number: str
    section: str
    points: float | str
    says: str
    waits: bool = False
    """There is a hand-in, which is to be graded."""
    is_sure: bool = True
    """That there is none."""


MarkOf = Callable[[AttemptRecord], MarkShown]


def as_run(record: AttemptRecord) -> MarkShown:
    """The mark that the run gave."""
    return MarkShown(record.reached)


@dataclass(frozen=True)
class StudentRow:
    """A hand-in in the class table."""

    record: AttemptRecord
    page: str
    mark: MarkShown
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


def class_page(
    lab: Definition,
    records: list[AttemptRecord],
    mark_of: MarkOf = as_run,
    missing: Sequence[Missing] = (),
) -> str:
    """What a teacher looks at first."""
    rows = _rows(lab, records, mark_of)
    return page(
        "class.html",
        lab=lab,
        rows=rows,
        missing=missing,
        has_sections=any([*(one.section for one in missing), *(row.mark.section for row in rows)]),
        summary=_summary(rows),
        left_out=[row for row in rows if not _is_scored(row)],
        checks=difficulties(records),
    )


def class_csv(
    lab: Definition,
    records: list[AttemptRecord],
    mark_of: MarkOf = as_run,
    missing: Sequence[Missing] = (),
) -> str:
    """One line a student; no cell can become a formula of a spreadsheet."""
    written = io.StringIO()
    writer = csv.writer(written)
    ids = list(dict.fromkeys(check["id"] for record in records for check in record.checks))
    tasks = [f"task {number}" for number in lab.tasks]
    who = ["student", "id", "section"]
    writer.writerow([*who, "outcome", "points", "of", *tasks, *ids, "says", "notes"])
    for row in _rows(lab, records, mark_of):
        record = row.record
        points = _points(record, row.mark)
        cells: list[object] = [record.student, row.mark.number, row.mark.section]
        cells += [record.outcome, row.mark.cell]
        cells += [record.full if row.mark.full is None else row.mark.full, *row.tasks]
        cells += [*(points.get(name) for name in ids), row.says, "; ".join(row.notes)]
        writer.writerow([guarded(cell) for cell in cells])
    blank = [""] * (1 + len(tasks) + len(ids))
    for one in missing:
        cells = [one.student, one.number, one.section, "", one.points, *blank, one.says, ""]
        writer.writerow([guarded(cell) for cell in cells])
    return written.getvalue()


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
            _by_task(lab, record, mark_of(record)),
            in_words(record),
        )
        for record in records
    ]


def _points(record: AttemptRecord, mark: MarkShown) -> dict[str, float | str | None]:
    """Of each check; what could not be run has none but a teacher's."""
    is_refused = record.outcome in REFUSED
    reached = {one["id"]: None if is_refused else one["reached"] for one in record.checks}
    return reached | dict(mark.checks)


def _by_task(lab: Definition, record: AttemptRecord, mark: MarkShown) -> list[float | None]:
    if mark.points is None:
        return [None] * len(lab.tasks)
    points = _points(record, mark)
    of_task = {n: [c["id"] for c in record.checks if c["task"] == n] for n in lab.tasks}
    if record.outcome in REFUSED:  # by hand, what was looked at
        of_task = {n: [id for id in ids if points[id] is not None] for n, ids in of_task.items()}
    return [
        summed(part for id in ids if not isinstance(part := points[id], str)) if ids else None
        for ids in of_task.values()
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
