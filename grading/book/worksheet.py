"""The table of a platform that tells when somebody handed in, and what else is theirs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from grading.book import spreadsheet
from kafkalab.errors import CourseError

NUMBER = re.compile(r"(\d+)$")
"""Moodle's "Participant 41000", in any language."""
IDS = ("Identifier", "SID")
TIMES = ("Last modified (submission)", "Submission Time")
ALSO = ("ID number", "Username", "Email address", "Email")


@dataclass(frozen=True)
class SheetRow:
    """What a worksheet tells of somebody: the time as it is written, and what is theirs alone."""

    time: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Worksheet:
    """By the platform's number."""

    rows: dict[str, SheetRow] = field(default_factory=dict)

    def of(self, number: str) -> SheetRow:
        return self.rows.get(number, SheetRow())


def read(file: Path) -> Worksheet:
    """Moodle's grading worksheet, or Gradescope's scores."""
    table = spreadsheet.read(file)
    if table.column(*IDS) is None or table.column(*TIMES) is None:
        raise CourseError(
            f"{file} is no worksheet.",
            f"Its columns are {', '.join(table.header)}; it needs {' or '.join(IDS)}, and "
            f"{' or '.join(TIMES)}.",
            "Download it from the learning platform in English.",
        )
    rows: dict[str, SheetRow] = {}
    for row in table.rows:
        id = table.cell(row, *IDS)
        number = NUMBER.search(id)
        time = table.cell(row, *TIMES)
        said = SheetRow(
            "" if time == "-" else time, tuple(filter(None, (table.cell(row, c) for c in ALSO)))
        )
        rows |= {id: said} | ({number[1]: said} if number else {})
    return Worksheet(rows)
