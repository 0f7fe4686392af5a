"""Pages from records: one for each student, one for the class, and a table for spreadsheets.

Everything from a hand-in is escaped by the template engine, the pages load nothing and run nothing.
"""

from __future__ import annotations

from pathlib import Path

from grading.define.definition import Definition
from grading.keep.record import AttemptRecord, Store, slug
from grading.keep.report_class import class_csv, class_page
from grading.keep.report_student import student_page
from kafkalab.files import write_whole


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
