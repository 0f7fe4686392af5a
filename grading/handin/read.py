"""A hand-in as pieces of a run, in its own order: what is the course's, what the student's."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from nbformat import NotebookNode

from grading.handin import code
from grading.handin.additions import change
from grading.handin.cells import (
    PARAMETERS_TAG,
    HandedIn,
    check_number,
    is_demo,
    plain,
    task_cells,
    task_number,
)
from grading.handin.pieces import Kind, Piece, Pieces
from grading.handin.recognise import looked_at, recognised, tasks_said

PREDICTION = "prediction"
"""Tag of a cell of the course in which a student puts a number."""


def read_pieces(
    master: NotebookNode, handed_in: Sequence[HandedIn], pieces: Pieces
) -> Iterator[str]:
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
