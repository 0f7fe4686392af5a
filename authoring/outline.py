"""lessons/outline.md: every requirement and the lessons that show it.

The last column is filled from the scripts: a code cell that shows and asserts a requirement
carries its id as a tag. What a test of the course proves is written there by hand, as
`FILE::name`, and stays.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from authoring import rules
from authoring.percent import Script

ROW = re.compile(
    r"\| (?P<id>[A-Z]\d+) \| (?P<what>[^|]*) \| (?P<where>[^|]*) \| (?P<shown>[^|]*) \|$"
)
PLANNED = "planned"


@dataclass(frozen=True)
class Row:
    id: str
    what: str
    where: str  # lessons and labs that it belongs to, by the plan
    shown: tuple[str, ...]  # scripts and tests that show it; empty while planned
    line: int

    def __str__(self) -> str:
        return f"| {self.id} | {self.what} | {self.where} | {', '.join(self.shown) or PLANNED} |"


def rows(text: str) -> list[Row]:
    """The rows of all tables, in the order of the page."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if match := ROW.match(line):
            shown = tuple(
                part for part in re.split(r",\s*", match["shown"].strip()) if part != PLANNED
            )
            found.append(Row(match["id"], match["what"], match["where"], shown, number))
    return found


def tags(scripts: Iterable[Script]) -> dict[str, list[str]]:
    """Requirement id -> names of the scripts with a cell that carries it."""
    found: dict[str, list[str]] = {}
    for script in scripts:
        for tag in dict.fromkeys(tag for cell in script.cells for tag in cell.tags):
            if rules.is_row(tag):
                found.setdefault(tag, []).append(rules.name(script))
    return found


def fill(text: str, scripts: Iterable[Script]) -> str:
    """The page with the last column made from the tags of the scripts."""
    shown = tags(scripts)
    lines = text.splitlines()
    for row in rows(text):
        tests = tuple(part for part in row.shown if "::" in part)
        renewed = Row(row.id, row.what, row.where, (*shown.get(row.id, ()), *tests), row.line)
        lines[row.line - 1] = str(renewed)
    return "\n".join(lines) + "\n"
