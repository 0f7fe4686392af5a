"""Master + answers -> the notebook that is run.

The run notebook is the master's, cell by cell. Only the text of the task cells comes from the
hand-in, so deleted, copied, moved, retagged and retyped cells are no special cases: they can change
which text is taken for an answer, and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from grading.define.marks import TASK, TASK_LINE
from kafkalab.errors import CourseError

FIRST = "grading-first"
PARAMETERS = "grading-parameters"
DEMOS = "grading-demos"
DEMO = "demo"
"""Tag of a cell that shows something and that no task needs: grading leaves it out."""
CONTROLLING = {"skip-execution", "raises-exception", "parameters", "injected-parameters"}


@dataclass(frozen=True)
class HandedIn:
    """A cell of a hand-in, reduced to what can matter. All of it was written by the student."""

    id: str
    kind: str
    text: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Woven:
    """The notebook to run, and what was odd about the hand-in."""

    notebook: NotebookNode
    answers: dict[int, str]
    """The text that runs for each task; the master's stub where there is no answer."""
    unanswered: frozenset[int]
    oddities: tuple[str, ...]


def weave(
    master: NotebookNode,
    handed_in: Sequence[HandedIn],
    first: str = "",
    values: Mapping[str, Any] | None = None,
    demos: str | None = None,
) -> Woven:
    """Put the answers of a hand-in into the blank notebook of its lab.

    first: code of a cell in front of everything; values: put in place of the defaults in the
    parameters cell; demos: code in front of the first cell that only shows something. Without it
    all such cells are left out.
    """
    stubs = task_cells(master)
    answers, oddities = find_answers(master, handed_in)
    texts = {number: answers.get(number, stub) for number, stub in stubs.items()}
    cells = [new_code_cell(first, id=FIRST)] if first else []
    for cell in master.cells:
        if DEMO in cell.metadata.get("tags", []):
            if demos is None:
                continue
            if demos:
                cells.append(new_code_cell(demos, id=DEMOS))
                demos = ""
        number = task_number(cell.id)
        text = cell.source if number is None else texts[number]
        cells.append(NotebookNode({**cell, "source": text}))
        if "parameters" in cell.metadata.get("tags", []) and values:
            cells.append(new_code_cell(assignments(cell.source, values), id=PARAMETERS))
    unanswered = frozenset(n for n, stub in stubs.items() if plain(texts[n]) == plain(stub))
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {**master.metadata.kernelspec}})
    return Woven(notebook, texts, unanswered, tuple(oddities))


def task_number(cell_id: str) -> int | None:
    """The N of the id task-N."""
    match = TASK.match(cell_id)
    return int(match[1]) if match else None


def task_cells(notebook: NotebookNode) -> dict[int, str]:
    """The text of the cell of each task: stubs of the blank notebook, answers of the solution."""
    numbered = ((task_number(cell.id), cell.source) for cell in notebook.cells)
    return {number: text for number, text in numbered if number is not None}


def as_handed_in(notebook: NotebookNode) -> list[HandedIn]:
    """A notebook of ours as if a student had handed it in."""
    return [HandedIn(cell.id, cell.cell_type, cell.source) for cell in notebook.cells]


def plain(text: str) -> str:
    """Text for comparing: editors change line ends, trailing blanks and the last empty lines."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def assignments(parameters_cell: str, values: Mapping[str, Any]) -> str:
    """Code that sets the values of grading; a value that the cell does not set is a mistake."""
    known = {
        target.id
        for statement in ast.parse(parameters_cell).body
        for target in _targets(statement)
        if isinstance(target, ast.Name)
    }
    if unknown := values.keys() - known:
        raise CourseError(
            f"The parameters cell does not set {', '.join(sorted(unknown))}.",
            "lab.toml gives a value for it under [parameters], which would have no effect.",
            "Make the two agree.",
        )
    return "\n".join(f"{name} = {value!r}" for name, value in values.items())


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.AnnAssign):
        return [statement.target]
    return statement.targets if isinstance(statement, ast.Assign) else []


def find_answers(
    master: NotebookNode, handed_in: Sequence[HandedIn]
) -> tuple[dict[int, str], list[str]]:
    """The answer text of each task: by cell id, then by its `# Task N` line, then by place."""
    stubs = task_cells(master)
    taken: dict[int, int] = {}
    oddities = []
    for number, stub in stubs.items():
        claims = list(_claims(number, handed_in, stubs))
        answered = [at for at in claims if plain(handed_in[at].text) not in {"", plain(stub)}]
        if claims:
            taken[number] = (answered or claims)[0]
        if len({plain(handed_in[at].text) for at in answered}) > 1:
            oddities.append(f"Task {number} has {len(answered)} answers; one was taken")
    missing = [number for number in stubs if number not in taken]
    for number, at in _by_place(master, handed_in, taken).items():
        taken[number] = at
        oddities.append(f"Task {number} had lost its mark and was found by its place")
    oddities += [f"Task {number} has no cell" for number in missing if number not in taken]
    for number, at in taken.items():
        if handed_in[at].kind != "code":
            oddities.append(f"The cell of task {number} was no code cell; its text was run")
    answers = {
        number: handed_in[at].text for number, at in taken.items() if handed_in[at].text.strip()
    }
    return answers, oddities + list(_strangers(master, handed_in, taken))


def _claims(number: int, handed_in: Sequence[HandedIn], stubs: Mapping[int, str]) -> Iterable[int]:
    """Cells that say they are this task, the most certain first.

    A line that names another task outweighs the id: it is what the student saw.
    """
    both: list[int] = []
    by_id: list[int] = []
    by_line: list[int] = []
    against: list[int] = []
    for at, cell in enumerate(handed_in):
        line = TASK_LINE.match(cell.text)
        said = int(line[1]) if line and int(line[1]) in stubs else None
        if task_number(cell.id) == number:
            (both if said == number else by_id if said is None else against).append(at)
        elif said == number:
            by_line.append(at)
    return [*both, *by_id, *by_line, *against]


def _by_place(
    master: NotebookNode, handed_in: Sequence[HandedIn], taken: Mapping[int, int]
) -> dict[int, int]:
    """Tasks without a mark: what stands between the same neighbours as in the master."""
    tasks = {at: number for number, at in taken.items()}
    scaffold = {plain(cell.source) for cell in master.cells if task_number(cell.id) is None}
    ours = [task_number(cell.id) or plain(cell.source) for cell in master.cells]
    theirs = [
        tasks.get(at) or (plain(cell.text) if plain(cell.text) in scaffold else ("own", at))
        for at, cell in enumerate(handed_in)
    ]
    found: dict[int, int] = {}
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for kind, left, right, start, end in matcher.get_opcodes():
        if kind != "replace":
            continue
        lost = [n for n in ours[left:right] if isinstance(n, int) and n not in taken]
        own = [
            at
            for at in range(start, end)
            if isinstance(theirs[at], tuple) and handed_in[at].text.strip()
        ]
        if len(lost) == len(own):
            found |= dict(zip(lost, own, strict=True))
        elif len(lost) == 1 and own:
            found[lost[0]] = own[-1]  # the one next to the check cell
    return found


def _strangers(
    master: NotebookNode, handed_in: Sequence[HandedIn], taken: Mapping[int, int]
) -> Iterable[str]:
    known = {plain(cell.source) for cell in master.cells}
    own = sum(
        cell.kind == "code" and bool(cell.text.strip()) and plain(cell.text) not in known
        for at, cell in enumerate(handed_in)
        if at not in taken.values()
    )
    if own:
        yield (
            f"{own} code cell{'s' * (own > 1)} outside the task cells did not run; "
            "what a task needs belongs into its cell"
        )
    tricks = {tag for cell in handed_in for tag in cell.tags} & CONTROLLING - {"parameters"}
    if tricks:
        yield f"Tags that steer a run were ignored: {', '.join(sorted(tricks))}"
