"""A hand-in + the master -> the notebook that is run.

It is the student's notebook: all its code cells, in its order, as they run in JupyterLab from top
to bottom. Only the given cells are the master's, put back where they are missing or were changed,
and a check stands where the student has it. So the answer to a task is what its names hold when
its check is reached, however many cells it took.

A word of `weave` about a task begins with `Task N`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from grading.define.cells import code_cell, markdown_cell
from grading.handin.answers import names_of_tasks
from grading.handin.cells import (
    PARAMETERS_TAG,
    HandedIn,
    as_handed_in,
    plain,
    task_cells,
    task_number,
)
from grading.handin.order import put_in_order
from grading.handin.pieces import Kind, Piece, Pieces, Unclear
from grading.handin.read import read_pieces
from grading.handin.remarks import remarks, without_windows
from grading.handin.shown import seen_by_the_student
from kafkalab.errors import CourseError

__all__ = ["HandedIn", "Unclear", "Woven", "as_handed_in", "task_cells", "task_number", "weave"]

FIRST = "grading-first"
PARAMETERS = "grading-parameters"
APART = "grading-apart"
BACK = "grading-back"
ROLE = "grading"
"""In the metadata of a cell that runs: its kind, its task, and whether it is the cell of the task
or stands below it, and is not just a helper above. The engine goes by that."""
CONTROLLING = {"skip-execution", "raises-exception", "injected-parameters"}


@dataclass(frozen=True)
class Woven:
    """The notebook to run, and what was odd about the hand-in."""

    notebook: NotebookNode
    answers: dict[int, str]
    """The student's code that runs for each task before its check; else the master's stub."""
    unanswered: frozenset[int]
    oddities: tuple[str, ...]


def weave(
    master: NotebookNode,
    handed_in: Sequence[HandedIn],
    first: str = "",
    values: Mapping[str, Any] | None = None,
    apart: str | None = None,
    all_shown: bool = False,
    asked: Mapping[int, Collection[str]] | None = None,
) -> Woven:
    """The notebook of a hand-in as it will run; raises Unclear where it cannot be told.

    first: code of a cell in front of everything; values: put in place of the defaults behind the
    parameters cell; apart: code in front of a cell that only shows something, behind which `first`
    runs again; all_shown: run those too that the student's code does not see; asked: the names
    that the checks of each task ask for.
    """
    pieces = Pieces(names_of_tasks(master, asked))
    oddities = list(read_pieces(master, handed_in, pieces))
    oddities += put_in_order(master, pieces)
    shown = {at for at, piece in enumerate(pieces) if piece.kind is Kind.SHOWN}
    left_out = set() if all_shown else shown - seen_by_the_student(pieces)
    tasks = _tasks(pieces)
    stubs = task_cells(master)
    unanswered = frozenset(task for task in stubs if not pieces.answers(task))
    answers = {
        task: "\n\n".join(p.text for at, p in enumerate(pieces)
                          if tasks[at] == task and p.kind is Kind.OWN)
        for task in stubs
    }  # fmt: skip
    answers |= {task: stubs[task] for task in unanswered if not answers[task]}
    oddities += _too_late(pieces)
    oddities += remarks(pieces, tasks)
    oddities += _retold(handed_in)
    cells = [_cell(FIRST, first, "ours")] if first else []
    mains = _main_cells(pieces, tasks)
    for at, piece in enumerate(pieces):
        cells += [markdown_cell(text, f"text-{at}-{n}") for n, text in enumerate(piece.above)]
        if at not in left_out:
            name = mains.get(at, f"own-{at}")
            made = list(_cells(master, piece, tasks[at], name, first, values, apart))
            is_answer = any(mains.get(place) == f"task-{tasks[at]}" for place in range(at + 1))
            made[-1].metadata[ROLE]["is_answer"] = is_answer
            cells += made
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {**master.metadata.kernelspec}})
    return Woven(notebook, answers, unanswered, tuple(dict.fromkeys(oddities)))


def _tasks(pieces: Pieces) -> list[int | None]:
    """The task that each cell is run for: the one that it is about if its check is yet to come."""
    found: list[int | None] = []
    to_come = [piece.said for piece in pieces if piece.kind is Kind.CHECK]
    for piece, following in pieces.checked_next():
        if piece.kind is Kind.CHECK:
            to_come.remove(piece.said)
        about = [task for task in sorted(pieces.about(piece)) if task in to_come]
        if piece.kind is Kind.STUB:
            found.append(piece.said)
        elif piece.kind is Kind.OWN:
            found.append(about[0] if about and following not in about else following)
        else:
            found.append(following if piece.kind is Kind.GIVEN else None)
    return found


def _main_cells(pieces: Pieces, tasks: Sequence[int | None]) -> dict[int, str]:
    """Place in the run -> the id of the cell of a task, of which there may be more."""
    found: dict[int, str] = {}
    for task in pieces.names:
        mine = [
            at
            for at, piece in enumerate(pieces)
            if tasks[at] == task and piece.kind is not Kind.GIVEN
        ]
        said = [at for at in mine if pieces[at].said == task]
        if mine:
            found[(said or mine)[0]] = f"task-{task}"
    return found


def _too_late(pieces: Pieces) -> Iterator[str]:
    """Cells of a task that its check does not see, and several that it does."""
    for task in pieces.names:
        check = pieces.check(task)
        here = pieces.at(check) if check is not None else len(pieces)
        said = [piece for piece in pieces.answers(task) if piece.said == task]
        for piece in said:
            if pieces.at(piece) > here:
                yield f"Task {task}: {piece} stands below the check, which cannot see it"
        above = {plain(piece.text): piece for piece in said if pieces.at(piece) < here}
        if len(above) > 1:
            named = ", ".join(map(str, above.values()))
            yield f"Task {task}: {named} all ran; what they left at the check counts"


def _retold(handed_in: Sequence[HandedIn]) -> Iterator[str]:
    if tricks := {tag for cell in handed_in for tag in cell.tags} & CONTROLLING:
        yield f"Tags that steer a run were ignored: {', '.join(sorted(tricks))}"


def _cells(
    master: NotebookNode,
    piece: Piece,
    task: int | None,
    name: str,
    first: str,
    values: Mapping[str, Any] | None,
    apart: str | None,
) -> Iterator[NotebookNode]:
    """The cells of the run for one piece."""
    if piece.kind is Kind.OWN:
        yield _cell(name, without_windows(piece.text), "own", task)
        return
    assert piece.of is not None, "all but a student's own cells are the master's"
    ours = master.cells[piece.of]
    if piece.kind is Kind.SHOWN:
        if apart:
            yield _cell(f"{APART}-{ours.id}", apart, "ours")
        kind = "own" if piece.is_changed else "shown"
        yield _cell(ours.id, without_windows(piece.text), kind)
        if apart and first:
            yield _cell(f"{BACK}-{ours.id}", first, "ours")
        return
    if piece.kind is Kind.STUB:
        yield _cell(name, ours.source, "own", task)
        return
    if piece.kind is Kind.CHECK:
        yield _cell(ours.id, ours.source, "check", piece.said)
        return
    yield _cell(ours.id, ours.source, "given", task)
    if PARAMETERS_TAG in ours.metadata.get("tags", []) and values:
        yield _cell(PARAMETERS, assignments(ours.source, values), "ours")


def _cell(name: str, text: str, kind: str, task: int | None = None) -> NotebookNode:
    return code_cell(text, name, {ROLE: {"kind": kind, "task": task, "is_answer": False}})


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
