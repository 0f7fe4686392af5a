"""Pages from records: one for each student, one for the class, and a table for spreadsheets.

Everything from a hand-in is escaped by the template engine, the pages load nothing and run nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from grading.book.classbook import ClassBook
from grading.book.marks import EXCUSED, WAITS, Absent, CheckMark, Mark
from grading.define.definition import Definition
from grading.judge.outcome import OURS, Outcome
from grading.keep.record import AttemptRecord
from grading.keep.report_class import MarkShown, Missing, class_csv, class_page
from grading.keep.report_student import student_page
from grading.keep.store import Store, slug
from kafkalab.files import write_whole


def write(lab: Definition, store: Store) -> Path:
    """All pages of a lab; returns the class table."""
    found = ClassBook.read(store.course).lab(lab.name)
    for mark in found.marks:
        write_student(_without_excused(lab, mark), store, _counted(mark))
    records = [replace(one.record, student=one.name, person=one.id) for one in found.marks]
    marks = {mark.id: _shown(mark) for mark in found.marks}
    missing = [_absent(one) for one in found.missing]
    missing += [Missing(name, "", "", "", WAITS, True, False) for name in found.unclaimed]

    def mark_of(record: AttemptRecord) -> MarkShown:
        return marks[record.id]

    write_whole(store.folder / "class.html", class_page(lab, records, mark_of, missing))
    table = class_csv(lab, records, mark_of, missing)
    write_whole(store.folder / "class.csv", "\ufeff" + table)
    return store.folder / "class.html"


def write_student(lab: Definition, store: Store, record: AttemptRecord) -> Path:
    """The page of one student."""
    page = store.folder / "students" / f"{slug(record.id)}.html"
    write_whole(page, student_page(lab, record, store.evidence(record.key)))
    return page


def _without_excused(lab: Definition, mark: Mark) -> Definition:
    """The lab as it counts for one person: an excused check has no points."""
    full = Counter[int]()
    for line in mark.lines:
        if line.is_excused:
            full[line.check["task"]] += line.check["full"]
    tasks = {n: replace(task, points=task.points - full[n]) for n, task in lab.tasks.items()}
    return replace(lab, tasks=tasks)


def _counted(mark: Mark) -> AttemptRecord:
    """The record as its student reads it: with what counts, and why."""
    record = mark.record
    outcome = record.outcome
    if outcome in OURS and mark.points is not None:
        # A teacher said what the grader could not.
        outcome = Outcome.PASS if mark.points == mark.full else Outcome.PART
    return replace(
        record,
        student=mark.name,
        person=mark.id,
        outcome=outcome,
        why=record.why if outcome == record.outcome else "",
        reached=mark.points,
        full=mark.full,
        checks=[_decided(line) for line in mark.lines],
        notes=[*mark.words, *record.notes],
    )


def _decided(line: CheckMark) -> dict[str, Any]:
    if not line.words:
        return line.check
    good, part = line.reached == line.full, bool(line.reached)
    outcome = Outcome.PASS if good else Outcome.PART if part else Outcome.FAIL
    return line.check | {"reached": line.reached, "full": line.full, "outcome": outcome}


def _shown(mark: Mark) -> MarkShown:
    person, record = mark.found.person, mark.record
    return MarkShown(
        mark.points,
        "; ".join(mark.words),
        number=person.id if person else record.number,
        section=person.section if person else "",
        full=mark.full,
        instead=mark.instead,
        checks={line.check["id"]: _cell(line) for line in mark.lines},
    )


def _cell(line: CheckMark) -> float | str | None:
    return EXCUSED if line.is_excused else line.reached


def _absent(one: Absent) -> Missing:
    points = one.instead if one.points is None else one.points
    person = one.person
    return Missing(
        person.shown, person.id, person.section, points, one.remarks, one.waits, one.is_missing
    )
