"""All labs of a class in one table: a row for each person, whatever platform each lab came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from grading.book import names
from grading.book.classbook import ClassBook
from grading.book.labclass import LabClass
from grading.book.marks import Absent, Mark
from grading.book.rules import number_of
from grading.book.spreadsheet import Table, made
from grading.keep.report_pages import page
from grading.keep.store import slug

KEEP_THEIR_NUMBERS = ("Canvas", "Blackboard", "Gradescope")
"""In every lab the same. Moodle counts anew for each assignment."""


@dataclass
class BookPerson:
    """A row of the book. cells: lab -> what there is of them."""

    id: str
    name: str
    login: str
    section: str
    cells: dict[str, Mark | Absent] = field(default_factory=dict)


@dataclass(frozen=True)
class BookCell:
    """What stands for a person and a lab, and where the page of it is."""

    text: str | float
    page: str = ""


@dataclass(frozen=True)
class BookRow:
    """A person with the cells of all labs, and their sum."""

    person: BookPerson
    cells: tuple[BookCell, ...]
    points: float
    of: float


@dataclass(frozen=True)
class Book:
    """The labs, in the order of their numbers, and everybody, in the order of names."""

    labs: tuple[LabClass, ...]
    rows: tuple[BookRow, ...]

    @property
    def headings(self) -> list[str]:
        return [f"lab{number_of(lab.lab):02d}" for lab in self.labs]

    def table(self) -> Table:
        """For spreadsheets."""
        header = ["id", "name", "login", "section", *self.headings, "points", "of"]
        lines: list[list[object]] = []
        for one in self.rows:
            who = [one.person.id, one.person.name, one.person.login, one.person.section]
            lines.append([*who, *(cell.text for cell in one.cells), one.points, one.of])
        return made(header, lines)

    def html(self) -> str:
        """For people."""
        return page("book.html", book=self, has_sections=any(r.person.section for r in self.rows))


def book(course: ClassBook) -> Book:
    """The book of a course folder as it is now."""
    labs = tuple(course.lab(name) for name in sorted(course.labs(), key=number_of))
    people: dict[tuple[str, str], BookPerson] = {}
    for lab in labs:
        for key, person, one in _people(lab):
            people.setdefault(key, person).cells[lab.lab] = one
    rows = [_row(person, labs) for person in people.values()]
    rows.sort(key=lambda row: (names.in_order(row.person.name), row.person.id))
    return Book(labs, tuple(rows))


def _people(lab: LabClass) -> Iterator[tuple[tuple[str, str], BookPerson, Mark | Absent]]:
    everybody: list[Mark | Absent] = [*lab.one_each(), *lab.missing]
    for one in everybody:
        known = one.found.person if isinstance(one, Mark) else one.person
        if known is not None:
            person = BookPerson(known.id, known.shown, known.login, known.section)
            yield ("roster", known.id), person, one
        elif isinstance(one, Mark):
            record = one.record
            stays = record.platform in KEEP_THEIR_NUMBERS and record.number
            key = (record.platform, record.number) if stays else ("name", record.student)
            yield key, BookPerson(record.number if stays else "", one.name, record.login, ""), one


def _row(person: BookPerson, labs: Sequence[LabClass]) -> BookRow:
    cells: list[BookCell] = []
    points = of = 0.0
    for lab in labs:
        one = person.cells.get(lab.lab)
        if one is None:
            cells.append(BookCell(""))
        else:
            where = f"{lab.lab}/students/{slug(one.id)}.html" if isinstance(one, Mark) else ""
            cells.append(BookCell(one.instead if one.points is None else one.points, where))
        if one is None or not one.is_excused:
            points += one.points or 0 if one else 0
            of += one.full if isinstance(one, Mark) else lab.full
    return BookRow(person, tuple(cells), round(points, 2), round(of, 2))
