"""Which cell of the master a handed-in cell is: by its id and text, its text, its id, its likeness.

Editors of other makers drop ids, give new ones, or give one to two cells; so nothing but text is
sure, and even that may have been changed a little.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher

from nbformat import NotebookNode

from grading.handin import code
from grading.handin.cells import HandedIn, check_number, plain, said_task, task_number

LOOKS = re.compile(r"\s*lab\.check\(\s*([1-9]\d*)\s*\)\s*;?\s*")
"""A cell that looks at an answer, whatever its id is."""
ALIKE = 0.7
LONGEST_COMPARED = 5_000  # characters; what compares takes the square of it
SHORTEST_COMPARED = 30


def tasks_said(handed_in: Sequence[HandedIn], numbers: Iterable[int]) -> dict[int, int]:
    """The task of each cell that says which: its first line outweighs its id, as it is seen."""
    known = set(numbers)
    found: dict[int, int] = {}
    for at, cell in enumerate(handed_in):
        if looked_at(cell.text) is not None:
            continue  # the half of a cell that was split, with the id of the whole
        for said in (said_task(cell.text), task_number(cell.id)):
            if said in known and said is not None and cell.text.strip():
                found[at] = said
                break
    return found


def recognised(
    master: NotebookNode, handed_in: Sequence[HandedIn], said: Mapping[int, int]
) -> dict[int, int]:
    """The places of given cells in the hand-in, each with its place in the master.

    A copy of a given cell is the student's own, and so is a look at an answer beside the one that
    the lab has: of those, see grading/handin/order.py.
    """
    given = {
        at: cell
        for at, cell in enumerate(master.cells)
        if cell.cell_type == "code" and task_number(cell.id) is None
    }
    texts = {at: plain(cell.source) for at, cell in given.items()}
    found: dict[int, int] = {}

    def take(place: int, fits: Iterable[int]) -> None:
        taken = set(found.values())
        if place not in found and place not in said:
            chosen = next((at for at in fits if at not in taken), None)
            if chosen is not None:
                found[place] = chosen

    theirs = [plain(cell.text) for cell in handed_in]
    for place, cell in enumerate(handed_in):
        take(place, (at for at in given if given[at].id == cell.id and texts[at] == theirs[place]))
    there = {cell.id for cell in handed_in if cell.text.strip()}
    for place, text in enumerate(theirs):
        # of a cell that was copied and then changed, the changed one is the course's
        take(place, (at for at in given if texts[at] == text and given[at].id not in there))
    for place, cell in enumerate(handed_in):
        number = looked_at(cell.text)
        take(place, (at for at in given if number and check_number(given[at].id) == number))
    for place, cell in enumerate(handed_in):
        if theirs[place] and cell.kind == "code":  # words with the id of a cell are none
            take(place, (at for at in given if given[at].id == cell.id))
    for place, cell in enumerate(handed_in):
        if cell.kind == "code" and len(theirs[place]) >= SHORTEST_COMPARED:
            take(place, (at for at in given if _are_alike(texts[at], theirs[place])))
    return found


def looked_at(text: str) -> int | None:
    """The task that a cell looks at, if it does nothing else."""
    bare = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    match = LOOKS.fullmatch(bare)
    return int(match[1]) if match else None


def looks_at(text: str, task: int) -> bool:
    """Whether a cell looks at a task, among other things that it does."""
    tree = code.tree(text)
    return tree is not None and any(looked_at(ast.unparse(one)) == task for one in tree.body)


def _are_alike(ours: str, theirs: str) -> bool:
    if max(len(ours), len(theirs)) > LONGEST_COMPARED or len(ours) < SHORTEST_COMPARED:
        return False
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    return matcher.real_quick_ratio() > ALIKE < matcher.quick_ratio() and matcher.ratio() > ALIKE
