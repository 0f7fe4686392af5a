"""Pages from records: one for each student, one for the class, and a table for spreadsheets.

Everything from a hand-in is escaped by the template engine, the pages load nothing and run
nothing. Hidden checks appear on a student's page as a number and a sum, never by name.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grading.define.definition import Definition
from grading.judge.outcome import IN_WORDS, OURS, REFUSED, Outcome
from grading.keep.evidence import Evidence
from grading.keep.record import AttemptRecord, Store, slug
from grading.practice.show import SIGNS
from kafkalab.files import write_whole

OWN_NAME = re.compile(r"-[0-9a-f]{6}\b")  # the end of the names that a student has alone
FORMULA = ("=", "+", "-", "@", "\t", "\r")
LONGEST_OUTPUT = 4_000
BUSY = 4  # processes that want to run, per processor; deadlines are missed then
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class TaskLine:
    """A task on a student's page."""

    number: int
    title: str
    reached: float | None
    full: float
    cell: str
    error: str
    output: str
    broken: list[str]
    checks: list[dict[str, Any]]
    hidden: dict[str, Any] | None
    hint: str


def write(lab: Definition, store: Store) -> Path:
    """All pages of a lab; returns the class table."""
    records = store.class_records()
    for record in records:
        write_student(lab, store, record)
    write_whole(store.folder / "class.html", class_page(lab, records))
    write_whole(store.folder / "class.csv", "\ufeff" + class_csv(lab, records))
    return store.folder / "class.html"


def write_student(lab: Definition, store: Store, record: AttemptRecord) -> Path:
    """The page of one student."""
    page = store.folder / "students" / f"{slug(record.id)}.html"
    write_whole(page, student_page(lab, record, store.evidence(record.key)))
    return page


def student_page(lab: Definition, record: AttemptRecord, evidence: Evidence | None) -> str:
    """What a student gets back."""
    return TEMPLATES.get_template("student.html").render(
        lab=lab,
        record=record,
        says=in_words(record),
        tasks=[_task(lab, record, evidence, number) for number in lab.tasks],
        is_run=record.outcome not in REFUSED | {Outcome.INFRA},
        parameters=evidence.parameters if evidence else {},
        number=as_number,
    )


def class_page(lab: Definition, records: list[AttemptRecord]) -> str:
    """What a teacher looks at first."""
    return TEMPLATES.get_template("class.html").render(
        lab=lab,
        rows=[(record, f"students/{slug(record.id)}.html", in_words(record),
               _by_task(lab, record)) for record in records],
        checks=_difficulty(records),
        number=as_number,
    )  # fmt: skip


def class_csv(lab: Definition, records: list[AttemptRecord]) -> str:
    """One line a student; no cell can become a formula of a spreadsheet."""
    written = io.StringIO()
    writer = csv.writer(written)
    ids = [check["id"] for check in records[0].checks] if records else []
    tasks = [f"task {number}" for number in lab.tasks]
    writer.writerow(["student", "outcome", "points", "of", *tasks, *ids, "note"])
    for record in records:
        points = {check["id"]: check["reached"] for check in record.checks}
        row = [record.student, record.outcome, record.reached, record.full]
        row += [*_by_task(lab, record), *(points.get(name) for name in ids), in_words(record)]
        writer.writerow([guarded(cell) for cell in row])
    return written.getvalue()


def guarded(cell: object) -> object:
    """Text that a spreadsheet would take for a formula gets a mark in front."""
    if isinstance(cell, str) and cell.startswith(FORMULA):
        return f"'{cell}"
    return "" if cell is None else cell


def in_words(record: AttemptRecord) -> str:
    """What became of the attempt."""
    if record.outcome is None:
        return "the run was cut off; grade again"
    words = IN_WORDS[record.outcome]
    if record.outcome is not Outcome.PASS and record.seconds.get("load", 0) > BUSY:
        words += "; the machine had far too much to do then, and --rerun grades it again"
    if record.outcome in OURS:
        return f"{words}; grade again or look at the record"
    return f"{words}: {record.why}" if record.why else words


def as_number(points: float | None) -> str:
    """Points as people write them."""
    return "?" if points is None else f"{points:g}"


def _task(
    lab: Definition, record: AttemptRecord, evidence: Evidence | None, number: int
) -> TaskLine:
    task = lab.tasks[number]
    mine = [check for check in record.checks if check["task"] == number]
    public = [check | {"sign": _sign(check), "words": IN_WORDS[Outcome(check["outcome"])]}
              for check in mine if not check["hidden"]]  # fmt: skip
    hidden = [check for check in mine if check["hidden"]]
    cell = evidence.cells.get(number) if evidence else None
    is_short = any(check["outcome"] != Outcome.PASS for check in mine)
    unanswered = evidence is not None and number in evidence.unanswered
    return TaskLine(
        number,
        task.title,
        _sum(check["reached"] for check in mine),
        task.points,
        "not answered" if unanswered else IN_WORDS[cell.state] if cell else "not reached",
        cell.error if cell and not unanswered else "",
        cell.output[:LONGEST_OUTPUT] if cell and not unanswered else "",
        [
            f"{at:.1f} s: {words}"
            for fault in (evidence.faults if evidence else [])
            if fault.task == number
            for at, words in fault.steps
        ],
        public,
        {
            "count": len(hidden),
            "reached": _sum(check["reached"] for check in hidden),
            "full": _sum(check["full"] for check in hidden),
        }
        if hidden
        else None,
        lab.hints[number] if is_short else "",
    )


def _by_task(lab: Definition, record: AttemptRecord) -> list[float | None]:
    if record.reached is None:
        return [None] * len(lab.tasks)
    return [
        _sum(check["reached"] for check in record.checks if check["task"] == number)
        for number in lab.tasks
    ]


def _difficulty(records: list[AttemptRecord]) -> list[dict[str, Any]]:
    """For each check: how many passed it, and what was seen most often where it was not passed."""
    scored = [r for r in records if r.reached is not None and r.outcome not in REFUSED]
    lines = []
    for check in scored[0].checks if scored else []:
        same = [one for record in scored for one in record.checks if one["id"] == check["id"]]
        lines.append(
            check
            | {
                "passed": sum(one["outcome"] == Outcome.PASS for one in same),
                "of": len(same),
                "seen": _most_common(
                    [OWN_NAME.sub("-…", m) for one in same for m in one["messages"][:1]]
                ),
            }
        )
    return lines


def _most_common(messages: list[str]) -> str:
    return max(messages, key=messages.count) if messages else ""


def _sum(points: Any) -> float | None:
    points = list(points)
    return None if None in points else round(sum(points), 2)


def _sign(check: dict[str, Any]) -> str:
    outcome = Outcome(check["outcome"])
    return "!" if outcome in OURS else SIGNS.get(outcome, "✗")
