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
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.handin import code
from grading.handin.additions import change
from grading.handin.answers import names_of_tasks
from grading.handin.cells import (
    PARAMETERS_TAG,
    HandedIn,
    as_handed_in,
    check_number,
    is_demo,
    plain,
    task_cells,
    task_number,
)
from grading.handin.order import put_in_order
from grading.handin.pieces import Kind, Piece, Pieces, Unclear
from grading.handin.recognise import looked_at, recognised, tasks_said
from grading.handin.remarks import remarks, without_windows
from grading.handin.shown import seen_by_the_student
from kafkalab.errors import CourseError

__all__ = ["HandedIn", "Unclear", "Woven", "as_handed_in", "task_cells", "task_number", "weave"]

FIRST = "grading-first"
PARAMETERS = "grading-parameters"
APART = "grading-apart"
BACK = "grading-back"
PREDICTION = "prediction"
"""Tag of a cell of the course in which a student puts a number."""
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
    oddities = list(_read(master, handed_in, pieces))
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
        cells += [
            new_markdown_cell(text, id=f"text-{at}-{n}") for n, text in enumerate(piece.above)
        ]
        if at not in left_out:
            name = mains.get(at, f"own-{at}")
            made = list(_cells(master, piece, tasks[at], name, first, values, apart))
            is_answer = any(mains.get(place) == f"task-{tasks[at]}" for place in range(at + 1))
            made[-1].metadata[ROLE]["is_answer"] = is_answer
            cells += made
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {**master.metadata.kernelspec}})
    return Woven(notebook, answers, unanswered, tuple(dict.fromkeys(oddities)))


def _read(master: NotebookNode, handed_in: Sequence[HandedIn], pieces: Pieces) -> Iterator[str]:
    """The pieces of a hand-in, in its order; says what was odd."""
    stubs = task_cells(master)
    said = tasks_said(handed_in, stubs)
    known = recognised(master, handed_in, said)
    first_task = next((at for at, c in enumerate(master.cells) if task_number(c.id)), 0)
    moved = _moved_set_up(known, said, first_task)
    at_stub = {task_number(cell.id): at for at, cell in enumerate(master.cells)}
    blanks = {code.meaning(text): task for task, text in stubs.items()}
    in_code = {
        said[at]
        for at, cell in enumerate(handed_in)
        if at in said and cell.kind == "code" and code.meaning(cell.text) not in blanks
    }
    prose: list[str] = []
    for place, cell in enumerate(handed_in):
        length = len(pieces)
        if place in known:
            at = known[place]
            yield from _read_given(master, cell, place, at, first_task, pieces)
            if place in moved:
                del pieces[length]
                given = Piece(Kind.GIVEN, cell.text, None, place)
                yield f"Given {given} was moved and ran in its place"
        elif (blank := blanks.get(code.meaning(cell.text))) is not None:
            pieces.append(Piece(Kind.STUB, stubs[blank], at_stub[blank], place, blank))
        elif place in said:
            task = said[place]
            if cell.kind == "code" or (task not in in_code and _is_code(cell, task)):
                pieces.append(Piece(Kind.OWN, cell.text, None, place, task))
                if cell.kind != "code":
                    yield f"Task {task}: its cell was no code cell; its text was run as code"
        elif cell.kind == "code" and cell.text.strip() and not _is_parameters(master, cell):
            pieces.append(Piece(Kind.OWN, cell.text, None, place))
        elif cell.kind == "markdown":
            prose.append(cell.text)
        if len(pieces) > length:
            pieces[length].above, prose = prose, []


def _read_given(
    master: NotebookNode, cell: HandedIn, place: int, at: int, first_task: int, pieces: Pieces
) -> Iterator[str]:
    """A given cell, with what the student put into it."""
    ours = master.cells[at]
    is_same = plain(cell.text) == plain(ours.source)
    if is_demo(ours):
        text = ours.source if is_same or cell.kind != "code" else cell.text
        pieces.append(Piece(Kind.SHOWN, text, at, place, is_changed=text is not ours.source))
        return
    check = check_number(ours.id)
    if check is not None:
        before, after = ("", "") if is_same else _around_check(ours.source, cell.text, check)
        if before:
            pieces.append(Piece(Kind.OWN, before, None, place))
        pieces.append(Piece(Kind.CHECK, ours.source, at, place, check))
        if after:
            pieces.append(Piece(Kind.OWN, after, None, place, behind=pieces[-1]))
        return
    given = Piece(Kind.GIVEN, ours.source, at, place)
    pieces.append(given)
    if is_same or cell.kind != "code":
        return
    tags = ours.metadata.get("tags", [])
    is_parameters = PARAMETERS_TAG in tags
    is_set_up = at < first_task or PREDICTION in tags
    values = code.bound(ours.source) if is_parameters else frozenset()
    made = change(ours.source, cell.text, is_set_up, values)
    if made.added:
        pieces.append(Piece(Kind.OWN, made.added, None, place, behind=given))
    if made.is_broken:
        yield f"Given {Piece(Kind.GIVEN, cell.text, None, place)} is no Python now; ours ran"
    if made.dropped:
        later = (check_number(c.id) for c in master.cells[at:])
        task = next((number for number in later if number is not None), None)
        of = f"Task {task}: a" if task is not None else "A"
        yield f"{of} given cell was changed and ran as it was: without {'; '.join(made.dropped)}"


def _around_check(ours: str, theirs: str, task: int) -> tuple[str, str]:
    """What a student put into a check cell, above the look at the answer and below it."""
    tree = code.tree(theirs)
    lines = [ast.unparse(statement) for statement in tree.body] if tree else [theirs]
    wanted = code.tree(ours)
    known = {ast.unparse(statement) for statement in wanted.body} if wanted else set()
    looks = [at for at, line in enumerate(lines) if line in known or looked_at(line) == task]
    here = looks[0] if looks else len(lines)
    after = [line for at, line in enumerate(lines) if at > here and at not in looks]
    return "\n".join(lines[:here]), "\n".join(after)


def _moved_set_up(known: Mapping[int, int], said: Mapping[int, int], first_task: int) -> set[int]:
    """Given cells from above the first task that stand in another order, or below a task."""
    below = min(said, default=len(known) + max(known, default=0) + 1)
    last = -1
    moved: set[int] = set()
    for place, at in sorted(known.items()):
        if at < first_task:
            if at < last or place > below:
                moved.add(place)
            last = max(last, at)
    return moved


def _is_code(cell: HandedIn, task: int) -> bool:
    """Whether a cell that is no code cell holds the answer to a task, and not words about it."""
    tree = code.tree(cell.text)
    return task_number(cell.id) == task or bool(tree and tree.body)


def _is_parameters(master: NotebookNode, cell: HandedIn) -> bool:
    """Whether a cell is a copy of the parameters cell, which would undo the values of grading."""
    return any(
        PARAMETERS_TAG in ours.metadata.get("tags", []) and plain(ours.source) == plain(cell.text)
        for ours in master.cells
    )


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
    return new_code_cell(
        text, id=name, metadata={ROLE: {"kind": kind, "task": task, "is_answer": False}}
    )


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
