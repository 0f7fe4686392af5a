"""Marks in the form that a learning platform takes: its own table filled in, or one of ours.

Nobody without a number gets one: neither a row that says 0, nor an empty cell that erases one.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field

from grading.book.labclass import LabClass
from grading.book.marks import WAITS, Mark
from grading.book.platforms import (
    CANVAS,
    MOODLE,
    POINTS_POSSIBLE,
    Platform,
    grade_column,
    row_of,
    rows,
)
from grading.book.spreadsheet import Table, guarded, made
from grading.define.definition import Definition
from grading.keep.words import as_number

EXCUSED_IN_CANVAS = "EX"


@dataclass
class Exported:
    """The table, and what a teacher should know of it."""

    table: Table
    filled: int = 0
    unmatched: list[str] = field(default_factory=list)
    """Marks that found no row."""
    without: list[str] = field(default_factory=list)
    """People that have no number, with the reason."""


def moodle(found: LabClass, table: Table | None, column: str) -> Exported:
    """Moodle's grading worksheet."""
    if table is not None:
        return _filled_moodle(found, table, column)
    done = Exported(Table([], []))
    lines: list[list[object]] = []
    for mark in _with_number(found, done):
        record = mark.record
        if record.platform != MOODLE.name:
            done.unmatched.append(f"{mark.name}: Moodle's number is not known")
            continue
        email = record.login or (mark.found.person.login if mark.found.person else "")
        lines.append([f"Participant {record.number}", mark.name, email, "",
                      _scaled(mark, found.full), as_number(found.full), "Yes", "", "",
                      _feedback(mark)])  # fmt: skip
    done.filled = len(lines)
    header = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade",
              "Grade can be changed", "Last modified (submission)", "Last modified (grade)",
              "Feedback comments"]  # fmt: skip
    done.table = made(header, lines, mark="")
    return done


def _filled_moodle(found: LabClass, table: Table, column: str) -> Exported:
    done = Exported(table)
    grade = grade_column(table, MOODLE, "0", "", column)
    feedback = table.column(MOODLE.feedback)
    kept = []
    for at, mark in _matched(found, table, MOODLE, done).items():
        cells = table.rows[at]
        cells += [""] * (len(table.header) - len(cells))
        cells[grade] = _scaled(mark, _full(table.cell(cells, MOODLE.out_of), found.full))
        if feedback is not None and mark.words:
            cells[feedback] = str(guarded(_feedback(mark)))
        kept.append(cells)
    done.filled = len(kept)
    table.rows = kept
    return done


def canvas(found: LabClass, lab: Definition, table: Table | None, column: str) -> Exported:
    """Canvas's gradebook: the columns on students, and that of the lab."""
    title = f"Lab {lab.place.number}: {lab.title}"
    if table is not None:
        return _filled_canvas(found, lab, table, column)
    done = Exported(Table([], []))
    first = [f"    {POINTS_POSSIBLE}", "", "", "", "", as_number(found.full)]
    lines: list[list[object]] = [list(first)]
    for mark in _with_number(found, done, excused_too=True):
        record, person = mark.record, mark.found.person
        id = record.number if record.platform == CANVAS.name else ""
        sis, login = (person.id, person.login) if person else ("", record.login)
        section = person.section if person else ""
        lines.append([mark.name, id, sis, login, section, _canvas_grade(mark, found.full)])
    done.filled = len(lines) - 1
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column or title]
    done.table = made(header, lines, mark="")
    return done


def _filled_canvas(found: LabClass, lab: Definition, table: Table, column: str) -> Exported:
    done = Exported(table)
    at_grade = grade_column(table, CANVAS, lab.place.number, lab.title, column)
    section = table.column("Section") or 0
    possible = next((row for row in table.rows if POINTS_POSSIBLE in "".join(row[:1])), None)
    full = found.full
    kept = []
    if possible is not None:
        full = _full(possible[at_grade] if at_grade < len(possible) else "", found.full)
        kept.append(possible)
    for at, mark in _matched(found, table, CANVAS, done, excused_too=True).items():
        cells = table.rows[at]
        cells += [""] * (len(table.header) - len(cells))
        cells[at_grade] = _canvas_grade(mark, full)
        kept.append(cells)
        done.filled += 1
    # Columns of other assignments would carry the marks of the day of the download back.
    places = [*range(section + 1), at_grade]
    table.rows = [[cells[at] if at < len(cells) else "" for at in places] for cells in kept]
    table.header = [table.header[at] for at in places]
    return done


def plain(found: LabClass) -> Table:
    """Everybody, with all that must be said: for people, and for what we do not know."""
    header = ["id", "name", "login", "section", "points", "of", "before the late rule", "remarks"]
    lines: list[list[object]] = []
    for one in found.marks:
        record, person = one.record, one.found.person
        id, login = (person.id, person.login) if person else (record.number, record.login)
        section = person.section if person else ""
        points = one.instead if one.points is None else one.points
        remarks = "; ".join([*one.words, *([record.why] if one.points is None else [])])
        lines.append([id, one.name, login, section, points, one.full, one.earned, remarks])
    for none in found.missing:
        person, points = none.person, none.instead if none.points is None else none.points
        line: list[object] = [
            person.id,
            person.shown,
            person.login,
            person.section,
            points,
            "",
            "",
            none.remarks,
        ]
        lines.append(line)
    return made(header, lines)


def without_number(found: LabClass, excused_too: bool = False) -> list[str]:
    """Who has no number, and why."""
    lines = []
    for one in found.marks:
        if one.points is None and not (excused_too and one.is_excused):
            why = "" if one.is_excused else one.record.why
            lines.append(": ".join(filter(None, [one.name, one.instead, why])))
    for none in found.missing:
        if none.points is None and not (excused_too and none.is_excused):
            lines.append(f"{none.person.label}: {none.remarks}")
    return lines + [f"{name}: {WAITS}" for name in found.unclaimed]


def _with_number(found: LabClass, done: Exported, excused_too: bool = False) -> list[Mark]:
    """Those who get a cell; the others are named."""
    done.without += without_number(found, excused_too)
    everybody = [*found.one_each(), *(one.as_mark(found.full) for one in found.missing)]
    return [one for one in everybody if one.points is not None or (excused_too and one.is_excused)]


def _matched(
    found: LabClass, table: Table, platform: Platform, done: Exported, excused_too: bool = False
) -> dict[int, Mark]:
    """Row -> mark, in the order of the table."""
    people = list(rows(table, platform))
    taken: dict[int, Mark] = {}
    for mark in _with_number(found, done, excused_too):
        row = row_of(mark, platform, people)
        if row is None:
            done.unmatched.append(f"{mark.name}: no row of the table is certainly theirs")
        elif row.at in taken:
            done.unmatched.append(f"{mark.name}: their row has the mark of {taken[row.at].name}")
        else:
            taken[row.at] = mark
    return dict(sorted(taken.items()))


def _canvas_grade(mark: Mark, full: float) -> str:
    return EXCUSED_IN_CANVAS if mark.points is None else _scaled(mark, full)


def _full(written: str, usual: float) -> float:
    try:
        return float(written.replace(",", "."))
    except ValueError:
        return usual


def _scaled(mark: Mark, full: float) -> str:
    """The points on a scale that ends elsewhere, as where a check is excused."""
    points = mark.points or 0
    return as_number(points if mark.full in (0, full) else points * full / mark.full)


def _feedback(mark: Mark) -> str:
    """What Moodle shows the student, which is HTML there."""
    return html.escape("; ".join(mark.words), quote=False)
