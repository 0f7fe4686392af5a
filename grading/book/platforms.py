"""The tables of learning platforms: who is in a row, and where a mark belongs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grading.book import names
from grading.book.marks import Mark
from grading.book.spreadsheet import Table
from kafkalab.errors import CourseError

POINTS_POSSIBLE = "Points Possible"
NUMBER = re.compile(r"(\d+)$")


@dataclass(frozen=True)
class Platform:
    """The columns of a platform's table, each by the names that it may have."""

    name: str
    ids: tuple[str, ...]
    names: tuple[str, ...]
    logins: tuple[str, ...]
    also: tuple[str, ...]
    """What else may belong to one person alone."""
    grade: str
    """Empty: the column is called as the assignment."""
    out_of: str
    feedback: str


MOODLE = Platform(
    "Moodle", ("Identifier",), ("Full name",), ("Email address",), ("ID number", "Username"),
    "Grade", "Maximum Grade", "Feedback comments",
)  # fmt: skip
CANVAS = Platform(
    "Canvas", ("ID",), ("Student",), ("SIS Login ID",), ("SIS User ID",), "", "", "",
)  # fmt: skip


@dataclass(frozen=True)
class PlatformRow:
    """Somebody in a platform's table; `known` is what is theirs alone, in small letters."""

    at: int
    number: str
    name: str
    known: frozenset[str]


def rows(table: Table, platform: Platform) -> Iterator[PlatformRow]:
    """The people of a table."""
    if table.column(*platform.ids) is None or table.column(*platform.names) is None:
        raise CourseError(
            f"This is no table of {platform.name}.",
            f"Its columns are {', '.join(table.header)}.",
            f"It needs {platform.ids[0]} and {platform.names[0]}: download it in English.",
        )
    for at, row in enumerate(table.rows):
        name, id = table.cell(row, *platform.names), table.cell(row, *platform.ids)
        if not id:
            continue  # Canvas's rows on points and posting
        number = NUMBER.search(id)  # Moodle: Participant 41000
        words = [table.cell(row, *platform.logins)]
        words += [table.cell(row, column) for column in platform.also]
        words += [word.partition("@")[0] for word in words]
        known = frozenset(word.casefold() for word in words if word)
        yield PlatformRow(at, number[1] if number else id, name, known)


def row_of(mark: Mark, platform: Platform, people: Sequence[PlatformRow]) -> PlatformRow | None:
    """The row of a mark, if it can only be one: by number, by login or id, by name."""
    record, person = mark.record, mark.found.person
    written = record.plain or record.student
    if record.platform == platform.name:
        # The table may be that of another course, where the number is somebody else's.
        by_number = [
            row for row in people if row.number == record.number and names.agree(row.name, written)
        ]
        if len(by_number) == 1:
            return by_number[0]
    theirs = [person.id, person.login] if person else []
    theirs += [record.login] if record.login else []
    known = {word.casefold() for word in theirs if word}
    called = person.shown if person else written
    by_login = [row for row in people if row.known & known]
    by_name = [row for row in people if names.same(row.name, called)]
    for found in (by_login, by_name):
        if found:
            return found[0] if len(found) == 1 else None
    return None


def grade_column(table: Table, platform: Platform, number: str, title: str, column: str) -> int:
    """Where the marks go. column: as the teacher names it, "" to look for it."""
    wanted = column or platform.grade
    if wanted and (at := table.column(wanted)) is not None:
        return at
    assignments = [at for at in range(len(table.header)) if _is_assignment(table, at)]
    if not wanted:
        likely = [at for at in assignments if _is_of(table.header[at], number, title)]
        if len(likely) == 1:
            return likely[0]
    raise CourseError(
        "The table does not say which column is for this lab.",
        f"There are: {', '.join(table.header[at] for at in assignments)}.",
        "Name one with --column.",
    )


def _is_assignment(table: Table, at: int) -> bool:
    """Whether a column is no student's data and none that Canvas computes."""
    is_read_only = any(at < len(row) and "read only" in row[at] for row in table.rows)
    section = table.column("Section")
    return not is_read_only and (section is None or at > section)


def _is_of(header: str, number: str, title: str) -> bool:
    """Whether a column is called as the lab; the number that Canvas puts behind does not matter."""
    plain = re.sub(r"\s*\(\d+\)$", "", header).casefold()
    return bool(re.match(rf"lab\W?0*{int(number)}(?!\d)", plain)) or plain == title.casefold()
