"""How a lesson and a lab are put together. Judged by the tests, not by the builder.

Each rule takes a script and yields its problems, with the line and a way to mend it.
"""

import ast
import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from authoring import rules, solutions
from authoring.chores import chores, name_of
from authoring.percent import Cell, Problem, Script

Rule = Callable[[Script], Iterator[Problem]]

CLOSING = ("When it goes wrong", "Try it", "What you saw")
LONGEST_PROSE = 100  # words; 20 to 80 is the aim
LONGEST_TASK = 180  # a task says what, why, for how many points, and gives an example
MOST_CODE_CELLS = 40
MEDIAN_LINES = 10
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
    return [section for section in sections(script) if section.heading not in CLOSING]


def opening(script: Script) -> Iterator[Problem]:
    """The first cell asks a question in at most 60 words; the second says what for.

    A lab may also open with what is to be handed in.
    """
    first, second = script.cells[0], script.cells[1]
    question = "\n".join(first.lines[1:])
    if "?" not in question and not rules.is_lab(script):
        yield script.problem(
            first.line, "no question under the title", "ask what this page answers"
        )
    if len(question.split()) > 60:
        yield script.problem(first.line, "an opening of over 60 words", "shorten it")
    if second.kind != "markdown" or not second.lines[0].strip("*#: ").startswith("You will"):
        yield script.problem(
            second.line, "the second cell is no 'You will' list", "say what the reader can do after"
        )
        return
    bullets = [line for line in second.lines if line.startswith("- ")]
    most = 6 if rules.is_lab(script) else 4
    if not 2 <= len(bullets) <= most:
        yield script.problem(
            second.line, f"{len(bullets)} objectives", f"name 2 to {most}, each on a line with '- '"
        )
    if not re.search(r"\bNeeds\b", second.text):
        yield script.problem(
            second.line, "no 'Needs'", "name the lessons it builds on: 'Needs 01 and 04.'"
        )
    if not re.search(r"\b\d+ minutes\b", second.text):
        yield script.problem(second.line, "no time", "say how long it takes: '25 minutes.'")


def set_up(script: Script) -> Iterator[Problem]:
    """The first code cell holds the parameters, the second starts the cluster."""
    code = list(script.code())
    if "parameters" not in code[0].tags:
        yield script.problem(code[0].line, "code before the parameters", "put the parameters first")
        return
    if _size(code[0]) > 5:
        yield script.problem(code[0].line, "over 5 lines of parameters", "keep what a test changes")
    start = "Lab.open(" if rules.is_lab(script) else "Cluster.start("
    if len(code) < 2 or start not in code[1].text:
        yield script.problem(
            code[0].line, "no set-up cell after the parameters", f"call {start}…) in the next cell"
        )
    elif _size(code[1]) > 4:
        yield script.problem(
            code[1].line, "a set-up cell of over 4 lines", "leave chores to the package"
        )


def idea_sections(script: Script) -> Iterator[Problem]:
    """The first defines a term; all but one ask before they measure; each asserts."""
    found = ideas(script)
    if len(found) < 2:
        yield script.problem(
            script.cells[0].line, f"{len(found)} sections with an idea", "write 2 or more"
        )
    if found and not re.search(r"\*\*[^*]+\*\*", found[0].prose()):
        yield script.problem(
            found[0].line,
            f"'{found[0].heading}' defines no term",
            "set the term in **bold** where it is explained",
        )
    unasked = []
    for section in found:
        asserting = [number for number, cell in enumerate(section.cells) if _asserts(cell)]
        if not asserting:
            yield script.problem(
                section.line, f"'{section.heading}' asserts nothing", "end it with an assert"
            )
        predicting = [number for number, cell in enumerate(section.cells) if _predicts(cell)]
        if not predicting or (asserting and predicting[0] >= asserting[0]):
            unasked.append(section)
    for section in unasked[1:]:  # one may go without: a first look has nothing to go by
        yield script.problem(
            section.line,
            f"'{section.heading}' measures before the reader has said what to expect",
            "ask 'Before you run the next cell: …?' or tag a cell as prediction",
        )


def closing_sections(script: Script) -> Iterator[Problem]:
    """A failure on purpose, things to try, and the objectives as facts, in this order."""
    headings = [section.heading for section in sections(script)]
    if tuple(headings[-3:]) != CLOSING:
        yield script.problem(
            script.cells[-1].line,
            "the lesson does not end as the others do",
            f"close with the sections {', '.join(CLOSING)}",
        )
        return
    failure, attempts, facts = sections(script)[-3:]
    if not any(map(_asserts, failure.code())):
        yield script.problem(
            failure.line, "no failure is provoked", "cause it in a cell and assert what happened"
        )
    bullets = re.findall(r"^- ", attempts.prose(), re.MULTILINE)
    if not 2 <= len(bullets) <= 3:
        yield script.problem(
            attempts.line, f"{len(bullets)} things to try", "give 2 or 3, each on a line with '- '"
        )
    if not re.search(r"^- ", facts.prose(), re.MULTILINE) and len(facts.code()) < 2:
        yield script.problem(
            facts.line, "no facts", "say the objectives again as facts, in a list or from a cell"
        )


def tear_down(script: Script) -> Iterator[Problem]:
    """The last cell stops what was started; a lab shows the score at its end."""
    last = script.cells[-1]
    if rules.is_lab(script):
        if not any("lab.score()" in cell.text for cell in script.cells[-2:]):
            yield script.problem(last.line, "the lab shows no score", "call lab.score() at the end")
    elif "cluster.close()" not in last.text:
        yield script.problem(last.line, "the last cell stops nothing", "call cluster.close()")
    elif _size(last) > 3:
        yield script.problem(
            last.line, "a last cell of over 3 lines", "leave chores to the package"
        )


def chart(script: Script) -> Iterator[Problem]:
    if not any("charts." in cell.text for cell in script.code()):
        yield script.problem(1, "no chart", "draw one from this run with kafkalab.charts")


def sizes(script: Script) -> Iterator[Problem]:
    """Short cells: the median of a lesson's code, the number of cells, the words of prose."""
    code = [_size(cell) for cell in script.code()]
    # Check cells are all alike: they make a lab no longer to read.
    count = sum(cell.check is None for cell in script.code())
    if statistics.median(code) > MEDIAN_LINES and not rules.is_lab(script):
        yield script.problem(
            1,
            f"code cells have a median of {statistics.median(code):g} lines",
            f"split some: {MEDIAN_LINES}",
        )
    if count > MOST_CODE_CELLS:
        yield script.problem(1, f"{count} code cells", f"at most {MOST_CODE_CELLS}")
    longest = LONGEST_TASK if rules.is_lab(script) else LONGEST_PROSE
    for cell in script.prose():
        if len(cell.text.split()) > longest:
            yield script.problem(
                cell.line,
                f"{len(cell.text.split())} words without a cell to run",
                "say one thing, show it, then the next",
            )


def claims(script: Script) -> Iterator[Problem]:
    """A cell that claims a requirement asserts it; for a task its check does."""
    for cell in script.code():
        rows = [tag for tag in cell.tags if rules.is_row(tag)]
        if rows and not cell.task and not _asserts(cell):
            yield script.problem(
                cell.line,
                f"{', '.join(rows)} claimed by a cell that asserts nothing",
                "add an assert, or move the tag to the cell that has it",
            )


def lab_parts(script: Script) -> Iterator[Problem]:
    """Every lab has a prediction and an analysis with Spark."""
    if not any(map(_predicts, script.cells)):
        yield script.problem(
            1, "no prediction", "ask 'Before you run the next cell: …?' or tag a cell as prediction"
        )
    if not any(re.search(r"\b(spark_session|read_topic)\(", cell.text) for cell in script.code()):
        yield script.problem(1, "no analysis with Spark", "read a topic with read_topic(spark, …)")


BOTH: tuple[Rule, ...] = (opening, set_up, tear_down, sizes, chores, claims)
LESSON: tuple[Rule, ...] = (*BOTH, idea_sections, closing_sections, chart)
LAB: tuple[Rule, ...] = (*BOTH, lab_parts)


def problems(script: Script) -> list[Problem]:
    """What the rules say about a script that the builder accepts."""
    chosen = LAB if rules.is_lab(script) else LESSON
    return sorted({problem for rule in chosen for problem in rule(script)})


def _size(cell: Cell) -> int:
    return sum(bool(line.strip()) for line in solutions.solution_text(cell).split("\n"))


def _asserts(cell: Cell) -> bool:
    """Whether the cell fails if its claim is wrong: an assert, or a call of a check."""
    if cell.kind != "code":
        return False
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and name_of(node.func).startswith("check"))
        for node in ast.walk(cell.tree)
    )


def _predicts(cell: Cell) -> bool:
    return "prediction" in cell.tags or bool(
        cell.kind == "markdown" and PREDICTION.search(cell.text)
    )
