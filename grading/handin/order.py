"""The order of the run: the student's, with what is missing of the course put back into it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from nbformat import NotebookNode

from grading.handin import code
from grading.handin.cells import check_number, is_demo, task_number
from grading.handin.pieces import Kind, Piece, Pieces, Unclear
from grading.handin.recognise import looked_at, looks_at


def put_in_order(master: NotebookNode, pieces: Pieces) -> list[str]:
    """Give every check its one place, and put back what is missing; says what was odd."""
    oddities: list[str] = []
    between = given_between(master)
    for task in between:
        _choose_check(task, pieces)
        _take_down_early_check(task, pieces, between[task])
    former: int | None = None
    for at, cell in enumerate(master.cells):
        if cell.cell_type != "code" or is_demo(cell):
            continue
        answered, checked = task_number(cell.id), check_number(cell.id)
        if answered is not None:
            oddities += _find_or_put_back_task(
                master, pieces, answered, at, former, between[answered]
            )
        elif checked is not None:
            if pieces.check(checked) is None:
                place = _behind_answer(pieces, checked, between[checked])
                pieces.insert(place, Piece(Kind.CHECK, cell.source, of=at, said=checked))
                if pieces.answers(checked):
                    oddities.append(f"Task {checked}: its check cell was put back behind it")
        elif pieces.of(at) is None:
            pieces.insert(
                _place_of_given(master, pieces, former), Piece(Kind.GIVEN, cell.source, of=at)
            )
        former = at
    for task in between:
        oddities += _leave_out_stubs(task, pieces)
    return oddities


def given_between(master: NotebookNode) -> dict[int, list[int]]:
    """Task -> the places in the master of the given cells between its cell and its check."""
    found: dict[int, list[int]] = {}
    open_task: int | None = None
    for at, cell in enumerate(master.cells):
        if (task := task_number(cell.id)) is not None:
            open_task = task
            found[task] = []
        elif check_number(cell.id) is not None:
            open_task = None
        elif open_task is not None and cell.cell_type == "code" and not is_demo(cell):
            found[open_task].append(at)
    return found


def _choose_check(task: int, pieces: Pieces) -> None:
    """Of several looks at a task the one behind the last try is its check.

    Chosen before anything runs: of results the best would be an answer to the question itself.
    """
    check = pieces.check(task)
    if check is None:
        return
    looks = [p for p in pieces if p is check or (p.kind is Kind.OWN and looked_at(p.text) == task)]
    places = [pieces.at(look) for look in looks]
    tries = [place for piece in pieces.answers(task) if (place := pieces.at(piece)) < places[-1]]
    chosen = next(p for p in places if p > max(tries, default=-1))
    if pieces[chosen] is not check:
        where = pieces[chosen].place
        pieces[chosen] = Piece(Kind.CHECK, check.text, check.of, where, task)
        del pieces[pieces.at(check)]


def _take_down_early_check(task: int, pieces: Pieces, between: list[int]) -> None:
    """A check above all that it looks at was moved by a slip: it is put back where it belongs."""
    check = pieces.check(task)
    if check is None:
        return
    here = pieces.at(check)
    needed = [one for at in between if (one := pieces.of(at)) is not None]
    answers = pieces.answers(task)
    is_early = any(pieces.at(one) > here for one in needed)
    if answers and all(pieces.at(one) > here for one in answers):
        # What only defines a name of the task may belong to another, if something stands above.
        is_early |= any(one.said == task for one in answers) or not (
            here and pieces[here - 1].kind in {Kind.OWN, Kind.STUB}
        )
    if not answers and (stubs := pieces.stubs(task)):
        is_early |= all(pieces.at(stub) > here for stub in stubs)
    if is_early:
        del pieces[here]


def _find_or_put_back_task(
    master: NotebookNode,
    pieces: Pieces,
    task: int,
    at: int,
    former: int | None,
    between: list[int],
) -> Iterator[str]:
    """See to it that a task has a cell: one that stands in its place, else the blank one."""
    if pieces.answers(task):
        return
    check, stubs = pieces.check(task), pieces.stubs(task)
    if check is not None and (own := _own_above(pieces, check, between)):
        pieces.claimed[task] = own
        return
    if stubs:
        return
    start, end = _gap(master, pieces, at, former)
    candidates = pieces.own(start, end) or pieces.behind_last_check()
    if check is None and candidates and not pieces.names[task]:
        lost = [
            other
            for other in _tasks_of_gap(master, pieces, at)
            if not (pieces.answers(other) or pieces.stubs(other) or pieces.names[other])
        ]
        if len(lost) == len(candidates):
            pieces.claimed[task] = candidates[0]
        elif len(lost) == 1:
            pieces.claimed[task] = candidates[-1]
        else:
            raise unclear(task, candidates)
        yield f"Task {task} had lost its mark and was found by its place"
        return
    yield f"Task {task} has no cell"
    if check is not None and pieces.at(check) < start:
        del pieces[pieces.at(check)]
        start, end = _gap(master, pieces, at, former)
    pieces.insert(end, Piece(Kind.STUB, master.cells[at].source, of=at, said=task))


def _own_above(pieces: Pieces, check: Piece, between: list[int]) -> Piece | None:
    """The last cell of the student's that stands above a check with nothing else between."""
    for piece in reversed(pieces[: pieces.at(check)]):
        if piece.kind is Kind.OWN and not pieces.about(piece):
            return piece
        if piece.of not in between and not (piece.kind is Kind.STUB and piece.said == check.said):
            return None
    return None


def _gap(master: NotebookNode, pieces: Pieces, at: int, former: int | None) -> tuple[int, int]:
    """The stretch of the run in which the cell of a task has its place, were it there."""
    start = 0 if former is None else _end_of(master, pieces, former)
    task = task_number(master.cells[at].id) or 0
    for end in range(start, len(pieces)):
        piece = pieces[end]
        if (piece.of is not None and piece.of > at) or max(pieces.about(piece), default=0) > task:
            return start, end
    return start, len(pieces)


def _end_of(master: NotebookNode, pieces: Pieces, at: int) -> int:
    """The place behind a cell of the master that is there, and behind what was put into it."""
    task = task_number(master.cells[at].id)
    if task is not None:
        last = pieces.answers(task) or pieces.stubs(task)
        return max(map(pieces.at, last), default=-1) + 1
    before = pieces.of(at)
    assert before is not None, "what stands before was put back before"
    end = pieces.at(before) + 1
    while end < len(pieces) and pieces[end].behind is before:
        end += 1
    return end


def _tasks_of_gap(master: NotebookNode, pieces: Pieces, at: int) -> Iterator[int]:
    """The tasks from here on up to the next cell of the course that the hand-in has."""
    for later in range(at, len(master.cells)):
        if (task := task_number(master.cells[later].id)) is not None:
            yield task
        elif pieces.of(later) is not None:
            return


def _behind_answer(pieces: Pieces, task: int, between: list[int]) -> int:
    """Where the check of a task belongs that has none."""
    answers = pieces.answers(task)
    said = [piece for piece in answers if piece.said == task]
    if answers and not said and task not in pieces.claimed:
        names = pieces.names[task]
        count = {id(one): len(names & code.bound(one.text)) for one in answers}
        best = [one for one in answers if count[id(one)] == max(count.values())]
        if any(
            names & code.bound(one.text) & code.bound(other.text) and _is_apart(pieces, one, other)
            for one, other in pairwise(best)
        ):
            raise unclear(task, best)
        said = best[-1:]
    given = [one for at in between if (one := pieces.of(at)) is not None]
    if looks := [one for one in said if looks_at(one.text, task)]:
        # joined with its check, which does not see what comes below
        return max(map(pieces.at, [looks[-1], *given])) + 1
    last = [*(said or pieces.stubs(task)), *given]
    if task in pieces.claimed:
        last.append(pieces.claimed[task])
    return _behind_own(pieces, max(map(pieces.at, last), default=-1) + 1, task)


def _behind_own(pieces: Pieces, start: int, task: int) -> int:
    """Past the student's cells about no other task; one stays for a next task that has no other."""
    end = pieces.behind_own(start, task)
    following = min((number for number in pieces.names if number > task), default=None)
    if following is None or pieces.answers(following) or pieces.stubs(following):
        return end
    return max(start, end - 1)


def _is_apart(pieces: Pieces, one: Piece, other: Piece) -> bool:
    """Whether something of the course, or of another task, stands between two cells."""
    between = pieces[pieces.at(one) + 1 : pieces.at(other)]
    return any(
        piece.kind is not Kind.OWN or pieces.about(piece) - pieces.about(one) for piece in between
    )


def _place_of_given(master: NotebookNode, pieces: Pieces, former: int | None) -> int:
    """Where a given cell belongs that is missing: behind what stands before it in the master."""
    if former is None:
        return 0
    end = _end_of(master, pieces, former)
    task = task_number(master.cells[former].id)
    return end if task is None else _behind_own(pieces, end, task)


def _leave_out_stubs(task: int, pieces: Pieces) -> Iterator[str]:
    """A blank cell beside an answer would take the answer's names away again, or just fail."""
    answers = pieces.answers(task)
    if not pieces.stubs(task) or not any(
        one.said == task or pieces.names[task] & code.bound(one.text) or not pieces.names[task]
        for one in answers
    ):
        return
    for stub in pieces.stubs(task):
        del pieces[pieces.at(stub)]
    yield f"Task {task}: its blank cell was left out, since another cell has the answer"


def unclear(task: int, cells: list[Piece]) -> Unclear:
    """A refusal that names the cells."""
    named = ", ".join(map(str, cells))
    return Unclear(
        f"nothing says which cell answers task {task}: it may be {named}. "
        f"The answer needs “# Task {task}” as its first line, or the task's check cell behind it"
    )
