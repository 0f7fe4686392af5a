"""What the builder refuses, because the notebook would mislead a learner or the grader.

How a lesson is put together is judged by authoring/style.py and only by the tests, so that a
half-written lesson can be built and tried. Its length and its words are judged by nobody: the build
tells them (authoring/sizes.py, authoring/words.py).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from authoring import demos, proofs, solutions
from authoring.percent import PROOF, Cell, Problem, Script
from grading.define.marks import CHECK, TASK

# `demo` marks a cell of a lab that shows something and that no task needs.
OTHER_TAGS = ("parameters", "prediction", "exercise", "demo")
# The form of the id of a requirement; which there are, lessons/outline.md says.
ROW = re.compile(r"[A-Z][1-9]\d*$")
TITLE = re.compile(r"# (?P<lab>Lab )?(?P<number>\d\d) (?P<title>\S.*)$")
HEADING = re.compile(r"^## Task (?P<number>\d+): (?P<title>\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Title:
    number: str
    text: str
    lab: bool

    def __str__(self) -> str:
        return f"{'Lab ' if self.lab else ''}{self.number} {self.text}"


def title(script: Script) -> Title | None:
    """The title in the first cell: `# 05 Durability` or `# Lab 02 Iris`."""
    if script.cells and script.cells[0].kind == "markdown":
        match = TITLE.match(script.cells[0].lines[0])
        if match:
            return Title(match["number"], match["title"].strip(), bool(match["lab"]))
    return None


def is_row(tag: str) -> bool:
    """Whether the tag has the form of the id of a requirement."""
    return bool(ROW.match(tag))


def task_titles(script: Script) -> dict[int, str]:
    """What each task asks, from its heading `## Task N: title`."""
    return {
        int(match["number"]): match["title"].strip()
        for cell in script.prose()
        for match in HEADING.finditer(cell.text)
    }


def refusals(
    script: Script, *, hints: Collection[int] | None = None, rows: Collection[str] | None = None
) -> list[Problem]:
    """Everything that keeps the script from becoming a notebook.

    hints: numbers of the tasks that have a hint; rows: the ids of the requirements that there are.
    None where they are kept elsewhere: then what depends on them is not looked at.
    """
    lab = is_lab(script)
    found = [*script.problems, *_frame(script.page(), lab)]
    found += [*proofs.names_for_the_page(script), *proofs.names_of_the_page(script)]
    titles = task_titles(script)
    for cell in script.cells:
        found += _tags(script, cell, lab, rows)
        if cell.kind == "code":
            claimed = [tag for tag in cell.tags if is_row(tag)]
            found += proofs.problems(script, cell, claimed, lab)
            found += solutions.problems(script, cell, titles.get(cell.task or 0, ""))
    if lab:
        found += _tasks(script, hints)
        found += demos.problems(script)
    return sorted(set(found))


def is_lab(script: Script) -> bool:
    """Labs are told by where they lie."""
    return is_lab_path(script.path)


def is_lab_path(path: str) -> bool:
    return path.endswith("/lab.py")


def name(script: Script) -> str:
    """00_start for a lesson, lab02_iris for a lab."""
    parts = script.path.removesuffix(".py").split("/")
    return f"lab{parts[-2]}" if script.path.endswith("/lab.py") else parts[-1]


def _frame(script: Script, lab: bool) -> Iterator[Problem]:
    pattern = "# Lab NN Title" if lab else "# NN Title"
    heading = title(script)
    if heading is None or heading.lab != lab:
        yield script.problem(
            1,
            "no title in the first cell",
            f"begin with a markdown cell whose first line is '{pattern}'",
        )
    elif (number := re.search(r"\d\d", name(script))) and number[0] != heading.number:
        yield script.problem(
            script.cells[0].line,
            f"the title says {heading.number}, the file name says {number[0]}",
            "make the two agree",
        )
    parameters = [cell for cell in script.cells if "parameters" in cell.tags]
    if not parameters:
        yield script.problem(
            1,
            "no parameters cell",
            "put the values that a test may change into a cell marked '# %% tags=[\"parameters\"]'",
        )
    for cell in parameters[1:]:
        yield script.problem(cell.line, "a second parameters cell", "join it with the first")
    if script.cells and script.cells[-1].kind == "markdown":
        yield script.problem(
            script.cells[-1].line,
            "the last cell is prose",
            "end with the cell that stops what was started (the builder adds the navigation)",
        )


def _tags(script: Script, cell: Cell, lab: bool, rows: Collection[str] | None) -> Iterator[Problem]:
    for tag in cell.tags:
        question = TASK.match(tag) or CHECK.match(tag)
        if question and not lab:
            yield script.problem(cell.line, f"{tag} in a lesson", "questions belong to labs")
        elif is_row(tag) and rows is not None and tag not in rows:
            yield script.problem(
                cell.line,
                f"no requirement has the id {tag}",
                "mend the id, or give the requirement its line in lessons/outline.md",
            )
        elif not (question or is_row(tag) or tag in (*OTHER_TAGS, PROOF)):
            yield script.problem(
                cell.line,
                f"an unknown tag: {tag}",
                f"use {', '.join((*OTHER_TAGS, PROOF))}, task-N, check-N or the id of a "
                "requirement",
            )
    for tag, count in Counter(cell.tags).items():
        if count > 1:
            yield script.problem(cell.line, f"the tag {tag} twice on one cell", "write it once")
    if cell.kind == "markdown" and cell.tags:
        yield script.problem(
            cell.line, "a tag on prose", "put it on the code cell that shows what the tag says"
        )


def _tasks(script: Script, hints: Collection[int] | None) -> Iterator[Problem]:
    tasks = [(cell.task, position) for position, cell in enumerate(script.cells) if cell.task]
    checks = [(cell.check, position) for position, cell in enumerate(script.cells) if cell.check]
    titles = task_titles(script)
    for kind, cells in (("task", tasks), ("check", checks)):
        for number, position in cells:
            if [other for other, _ in cells].index(number) != cells.index((number, position)):
                yield script.problem(
                    script.cells[position].line,
                    f"the tag {kind}-{number} a second time",
                    "give each question its own number",
                )
    if not tasks:
        yield script.problem(1, "a lab without a task", 'mark one with tags=["task-1"]')
    if list(dict.fromkeys(number for number, _ in tasks)) != list(
        range(1, len({number for number, _ in tasks}) + 1)
    ):
        yield script.problem(
            script.cells[tasks[0][1]].line,
            f"tasks numbered {', '.join(str(number) for number, _ in tasks)}",
            "count from 1 in the order of the page",
        )
    for number, position in tasks:
        cell = script.cells[position]
        if cell.lines[0].rstrip() != f"# Task {number}":
            yield script.problem(
                cell.line,
                f"the cell of task {number} does not say so",
                f"make '# Task {number}' its first line (the grader finds the cell by it)",
            )
        if number not in titles:
            yield script.problem(
                cell.line,
                f"task {number} has no title",
                f"write '## Task {number}: what is to do' in the prose before it",
            )
        if not any(check == number and position < place for check, place in checks):
            yield script.problem(
                cell.line,
                f"task {number} has no check cell after it",
                f'add a cell with tags=["check-{number}"]',
            )
        if hints is not None and number not in hints:
            yield script.problem(
                cell.line,
                f"task {number} has no hint",
                f"write one under '## task-{number}' in the hints.md of the lab",
            )
    for number, position in checks:
        if number not in {task for task, _ in tasks}:
            yield script.problem(
                script.cells[position].line,
                f"check-{number} checks a task that is not there",
                "give both the same number",
            )
