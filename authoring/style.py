"""How a lesson and a lab are put together. Judged by the tests, not by the builder.

Each rule takes a script and yields its problems, with the line and a way to mend it. Only what a
reader, the builder or the grader relies on is a rule; what is merely better is advice.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from authoring import rules
from authoring.chores import chores
from authoring.percent import Cell, Problem, Script

Rule = Callable[[Script], Iterator[Problem]]

FAILURE, FACTS = "When it goes wrong", "What you saw"
ATTEMPTS = ("Your turn", "Try it")
NEEDS_CLUSTER = re.compile(r"\b(cluster|kafka)\b")
ANALYSIS = re.compile(r"\b(read_topic|createDataFrame|toPandas)\(")
PREDICTION = re.compile(r"\bbefore you run\b", re.IGNORECASE)


@dataclass
class Section:
    """A `##` heading with the cells up to the next one."""

    heading: str
    line: int
    cells: list[Cell] = field(default_factory=list)

    def code(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.kind == "code"]

    def prose(self) -> str:
        return "\n".join(cell.text for cell in self.cells if cell.kind == "markdown")


def sections(script: Script) -> list[Section]:
    found: list[Section] = []
    for cell in script.cells:
        if cell.kind == "markdown":
            for number, line in enumerate(cell.lines, start=cell.line):
                if line.startswith("## "):
                    found.append(Section(line[3:].strip(), number))
        if found:
            found[-1].cells.append(cell)
    return found


def ideas(script: Script) -> list[Section]:
    closing = (FAILURE, *ATTEMPTS, FACTS)
    return [section for section in sections(script) if section.heading not in closing]


def predicts(cell: Cell) -> bool:
    """Whether the reader is asked for a number or a choice."""
    return "prediction" in cell.tags or bool(
        cell.kind == "markdown" and PREDICTION.search(cell.text)
    )


def opening(script: Script) -> Iterator[Problem]:
    """A question, what for, what it needs, and how long it takes: the contents tell them too.

    A lab may also open with what is to be handed in.
    """
    first, second = script.cells[0], script.cells[1]
    if "?" not in "\n".join(first.lines[1:]) and not rules.is_lab(script):
        yield script.problem(
            first.line, "no question under the title", "ask what this page answers"
        )
    if second.kind != "markdown" or not second.lines[0].strip("*#: ").startswith("You will"):
        yield script.problem(
            second.line, "the second cell is no 'You will' list", "say what the reader can do after"
        )
        return
    if not re.search(r"\bNeeds\b", second.text):
        yield script.problem(
            second.line, "no 'Needs'", "name the lessons it builds on: 'Needs 01 and 04.'"
        )
    if not re.search(r"\b\d+ minutes\b", second.text):
        yield script.problem(second.line, "no time", "say how long it takes: '25 minutes.'")


def set_up(script: Script) -> Iterator[Problem]:
    """The parameters come first, and the cluster starts before anything is asked of it.

    A lesson may first say what it is about, with cells that need no cluster.
    """
    code = list(script.code())
    if "parameters" not in code[0].tags:
        yield script.problem(code[0].line, "code before the parameters", "put the parameters first")
        return
    start = "Lab.open(" if rules.is_lab(script) else "Cluster.start("
    before = list(itertools.takewhile(lambda cell: start not in cell.text, code[1:]))
    late = before if rules.is_lab(script) else [c for c in before if NEEDS_CLUSTER.search(c.text)]
    if late or len(before) == len(code) - 1:
        yield script.problem(
            code[0].line, "no set-up cell after the parameters", f"call {start}…) in the next cell"
        )


def closing_sections(script: Script) -> Iterator[Problem]:
    """A failure on purpose, things to do, and the objectives as facts, in this order."""
    headings = [section.heading for section in sections(script)][-3:]
    if headings not in [[FAILURE, attempts, FACTS] for attempts in ATTEMPTS]:
        yield script.problem(
            script.cells[-1].line,
            "the lesson does not end as the others do",
            f"close with the sections {FAILURE}, {ATTEMPTS[0]}, {FACTS}",
        )


def tear_down(script: Script) -> Iterator[Problem]:
    """The last cell stops what was started; a lab shows the score at its end."""
    last = script.cells[-1]
    if rules.is_lab(script):
        if not any("lab.score()" in cell.text for cell in script.cells[-2:]):
            yield script.problem(last.line, "the lab shows no score", "call lab.score() at the end")
    elif "cluster.close()" not in last.text:
        yield script.problem(last.line, "the last cell stops nothing", "call cluster.close()")
    elif "spark.stop()" not in last.text and any(
        "spark_session()" in c.text for c in script.code()
    ):
        yield script.problem(last.line, "Spark keeps half a GB", "call spark.stop() at the end too")


def lab_parts(script: Script) -> Iterator[Problem]:
    """Every lab has a prediction and an analysis with Spark."""
    if not any(map(predicts, script.cells)):
        yield script.problem(
            1, "no prediction", "ask 'Before you run the next cell: …?' or tag a cell as prediction"
        )
    cells = list(script.code())
    first = min((number for number, cell in enumerate(cells) if cell.task), default=0)
    given = [cell for cell in cells[first:] if not cell.task]
    # Of what a student's own task has left: behind that one, or of all at the end.
    if not any(ANALYSIS.search(cell.text) for cell in given):
        yield script.problem(1, "no analysis with Spark of a task", "use read_topic(spark, …)")


LESSON: tuple[Rule, ...] = (opening, set_up, closing_sections, tear_down)
LAB: tuple[Rule, ...] = (opening, set_up, lab_parts, tear_down)


def problems(script: Script) -> list[Problem]:
    """What the rules say about a script that the builder accepts."""
    chosen = LAB if rules.is_lab(script) else LESSON
    page = script.page()
    return sorted({*chores(script), *(problem for rule in chosen for problem in rule(page))})
