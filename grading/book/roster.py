"""Who is in the class: students.csv in the course folder, with what belongs to each.

Columns: id, name, login, section, extra time ("30 min", "1 day"), and where the learning platform
tells no times a column for each lab (lab01) with the time of the hand-in. Id or name will do.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grading.book import names, spreadsheet
from grading.book.spreadsheet import Table
from grading.book.times import NoTime, length, parsed
from kafkalab.errors import CourseError

FILE = "students.csv"
COLUMNS = {
    "id": ("id", "student id", "id number", "sid"),
    "name": ("name", "full name", "student"),
    "first name": ("first name", "given name"),
    "last name": ("last name", "surname", "family name"),
    "login": ("login", "username", "email", "email address"),
    "section": ("section", "sections", "group"),
    "extra time": ("extra time", "extra_time", "extra"),
}
LAB = re.compile(r"lab\W?(\d+).*", re.IGNORECASE)
MOST_NAMED = 5
SHORTEST_ID = 4


@dataclass(frozen=True)
class Person:
    """Somebody of the class. times: number of a lab -> when it was handed in, as written."""

    id: str
    name: str = ""
    login: str = ""
    section: str = ""
    extra: datetime.timedelta = datetime.timedelta()
    times: dict[int, str] = field(default_factory=dict, hash=False)

    @property
    def shown(self) -> str:
        return self.name or self.id

    @property
    def label(self) -> str:
        """Name and id, where these are two."""
        return self.id if self.name in ("", self.id) else f"{self.name} ({self.id})"


@dataclass(frozen=True)
class Found:
    """Who it is, or why nobody can say."""

    person: Person | None
    why: str = ""
    could_be: tuple[str, ...] = ()
    """The ids of those whom nothing tells apart."""


@dataclass(frozen=True)
class Roster:
    """The class; empty where there is no file."""

    people: tuple[Person, ...] = ()
    unused: tuple[str, ...] = ()
    """Columns that mean nothing here."""

    def find(self, number: str, name: str, login: str = "", also: Iterable[str] = ()) -> Found:
        """Who that is, if it can only be one. also: what else is known to belong to them.

        A number may be another platform's, so it counts only where the names do not disagree.
        """
        known = {word.casefold() for word in (login, name, *also) if word}
        certain = [p for p in self.people if known & _logins(p)]
        numbers = known | {number.casefold()} | _ids_in(name.casefold())
        by_number = [p for p in self.people if p.id.casefold() in numbers]
        agreeing = [
            p for p in by_number if p.id.casefold() == name.casefold() or names.agree(p.name, name)
        ]
        by_name = [p for p in self.people if names.same(p.name, name)]
        for found in (certain, agreeing, by_name):
            if len(found) == 1:
                return Found(found[0])
            if found:
                which = ", ".join(person.id for person in found[:MOST_NAMED])
                ids = tuple(person.id for person in found)
                return Found(None, f"several of {FILE} could be meant: {which}", ids)
        if by_number:
            return Found(None, f"the id {by_number[0].id} is that of {by_number[0].shown}")
        return Found(None, f"nobody of {FILE} has this name, id or login")


def _ids_in(name: str) -> set[str]:
    """What may be an id in a name such as lee_ada_s100; a short number may be anything."""
    words = re.split(r"[\W_]+", name)
    return {word for word in words if len(word) >= SHORTEST_ID and re.search(r"\d", word)}


def _logins(person: Person) -> set[str]:
    """The login, and where it is an address of mail the part before the @."""
    login = person.login.casefold()
    return {login, login.partition("@")[0]} - {""}


def read(file: Path) -> Roster:
    """A roster; a CourseError with all that is wrong in it, so that nobody is graded by half."""
    table = spreadsheet.read(file)
    problems: list[str] = []
    have = {key for key, spellings in COLUMNS.items() if table.column(*spellings) is not None}
    if not have & {"id", "name", "last name"}:
        problems.append("line 1: there is no column id and none name")
    twice = [name for name, count in Counter(filter(None, table.header)).items() if count > 1]
    problems += [f"line 1: there are two columns {name}" for name in twice]
    people = []
    for line, row in zip(table.lines, table.rows, strict=True):
        try:
            people.append((line, _person(table, row)))
        except (NoTime, ValueError) as why:
            problems.append(f"line {line}: {why}")
    problems += _twice(people, "id", [person.id for _, person in people])
    problems += _twice(people, "login", [person.login.casefold() for _, person in people])
    if problems:
        more = len(problems) - MOST_NAMED
        some = problems[:MOST_NAMED] + ([f"and {more} more"] if more > 0 else [])
        raise CourseError(
            f"{file} cannot be used.",
            f"{'; '.join(some)}.",
            f"Mend it. Its columns are {', '.join(COLUMNS)}, and lab01 for a time; "
            "id or name will do.",
        )
    known = {spelling for spellings in COLUMNS.values() for spelling in spellings}
    unused = [
        name.strip()
        for name in table.header
        if name.strip() and name.strip().casefold() not in known and not LAB.fullmatch(name.strip())
    ]
    return Roster(tuple(person for _, person in people), tuple(unused))


def _person(table: Table, row: Sequence[str]) -> Person:
    if len(row) > len(table.header) and any(cell.strip() for cell in row[len(table.header) :]):
        raise ValueError(f"it has {len(row)} cells, and there are {len(table.header)} columns")
    said = {key: table.cell(row, *spellings) for key, spellings in COLUMNS.items()}
    name = said["name"] or " ".join(filter(None, (said["first name"], said["last name"])))
    id = said["id"] or name
    if not id:
        raise ValueError("there is neither an id nor a name")
    times = {
        int(match[1]): cell.strip()
        for column, cell in zip(table.header, row, strict=False)
        if (match := LAB.fullmatch(column.strip())) and cell.strip()
    }
    for time in times.values():
        parsed(time)
    extra = length(said["extra time"]) if said["extra time"] else datetime.timedelta()
    return Person(id, name, said["login"], said["section"], extra, times)


def _twice(people: Sequence[tuple[int, Person]], what: str, values: Sequence[str]) -> list[str]:
    """The lines on which something stands that is somebody else's already."""
    first: dict[str, int] = {}
    found = []
    for (line, _), value in zip(people, values, strict=True):
        if value and value in first:
            found.append(f"line {line}: the {what} {value} stands on line {first[value]} too")
        first.setdefault(value, line)
    return found
