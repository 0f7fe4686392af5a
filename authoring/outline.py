"""lessons/outline.md: every requirement, and the lessons, labs and tests that prove it.

The page is the list of the ids: a new requirement is a new line there and nothing else. The last
column is filled from the scripts: a cell that proves a requirement carries its id as a tag. By hand
come what a test of the course proves, as `FILE::name`, and what a row that is only partly proved
still lacks. Such a row reads

    | A14 | several producers | producers | partly: producers; missing: more than one producer |
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from authoring import rules
from authoring.percent import Script

ROW = re.compile(
    r"\| (?P<id>[A-Z]\d+) \| (?P<what>[^|]*) \| (?P<where>[^|]*) \| (?P<shown>[^|]*) \|$"
)
SHOWN = re.compile(r"(partly: )?(?P<names>[^;]*)(; missing: (?P<missing>.+))?$")
PLANNED = "planned"


@dataclass(frozen=True)
class Row:
    id: str
    what: str
    where: str
    """Lessons and labs that it belongs to, by the plan."""
    shown: tuple[str, ...]
    """Lessons, labs and tests that prove it; empty while planned."""
    missing: str
    """What they leave open; empty where they prove all of it."""
    line: int

    def __str__(self) -> str:
        partly = "partly: " if self.missing and self.shown else ""
        missing = f"; missing: {self.missing}" if self.missing else ""
        shown = f"{partly}{', '.join(self.shown) or PLANNED}{missing}"
        return f"| {self.id} | {self.what} | {self.where} | {shown} |"


def rows(text: str) -> list[Row]:
    """The rows of all tables, in the order of the page."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if match := ROW.match(line):
            last = SHOWN.match(match["shown"].strip())
            assert last, "the pattern leaves nothing out"
            names = re.split(r",\s*", last["names"].strip())
            shown = tuple(name for name in names if name != PLANNED)
            missing = (last["missing"] or "").strip()
            found.append(Row(match["id"], match["what"], match["where"], shown, missing, number))
    return found


def short_name(script: Script) -> str:
    """What the outline calls it: `durability` for a lesson, `lab02` for a lab.

    The numbers of lessons change when one comes between them.
    """
    name = rules.name(script)
    return name.partition("_")[0 if rules.is_lab(script) else 2]


def tags(scripts: Iterable[Script]) -> dict[str, list[str]]:
    """Requirement id -> names of the scripts with a cell that carries it."""
    found: dict[str, list[str]] = {}
    for script in scripts:
        for tag in dict.fromkeys(tag for cell in script.cells for tag in cell.tags):
            if rules.is_row(tag):
                found.setdefault(tag, []).append(short_name(script))
    return found


def fill(text: str, scripts: Iterable[Script]) -> str:
    """The page with the names in the last column made from the tags of the scripts."""
    shown = tags(scripts)
    lines = text.splitlines()
    for row in rows(text):
        tests = tuple(part for part in row.shown if "::" in part)
        names = (*shown.get(row.id, ()), *tests)
        lines[row.line - 1] = str(replace(row, shown=names))
    return "\n".join(lines) + "\n"
