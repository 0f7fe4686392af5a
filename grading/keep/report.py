"""Pages from records: one for each student, one for the class, and a table for spreadsheets.

Everything from a hand-in is escaped by the template engine, the pages load nothing and run nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grading.book.classbook import Course, Entry
from grading.define.definition import Definition
from grading.keep.record import AttemptRecord, Store, slug
from grading.keep.report_class import Mark, Missing, class_csv, class_page
from grading.keep.report_student import student_page
from kafkalab.files import write_whole


def write(lab: Definition, store: Store) -> Path:
    """All pages of a lab; returns the class table."""
    found = Course.read(store.course).lab(lab.name)
    records = [_named(entry) for entry in found.entries]
    for record in records:
        write_student(lab, store, record)
    marks = {entry.record.id: _mark(entry) for entry in found.entries}
    missing = [Missing(one.shown, one.id, one.section) for one in found.missing]

    def mark_of(record: AttemptRecord) -> Mark:
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


def _named(entry: Entry) -> AttemptRecord:
    return replace(entry.record, student=entry.name, person=entry.record.id)


def _mark(entry: Entry) -> Mark:
    person, record = entry.found.person, entry.record
    return Mark(
        record.reached,
        number=person.id if person else record.number,
        section=person.section if person else "",
    )
