"""Which of the cells that only show something run: those that a student's code can see.

They start clusters and Spark, so a run of all of them takes a multiple of the time of the tasks.
The course's own cells never need one (authoring/demos.py refuses that). A student's may: then the
cell runs, with what it needs itself. One that the student changed always runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from grading.handin import code
from grading.handin.pieces import Kind, Piece


def seen_by_the_student(pieces: Sequence[Piece]) -> set[int]:
    """The places in the run of the cells that have to run."""
    gives: dict[str, int] = {}
    """Name -> the place of the cell that showed something and gave it last."""
    shown: dict[str, set[int]] = {}
    wants: dict[int, set[int]] = {}
    """Place of such a cell -> those that it needs."""
    later: set[str] = set()
    seen: set[int] = set()
    for at, piece in enumerate(pieces):
        if piece.kind is Kind.SHOWN:
            needs = code.needed(piece.text)
            wants[at] = {gives[name] for name in needs & gives.keys()}
            if piece.is_changed:
                seen.add(at)
            for name in code.bound(piece.text):
                gives[name] = at
                shown.setdefault(name, set()).add(at)
            continue
        if piece.kind is Kind.OWN:
            needs = code.needed(piece.text)
            if needs & code.BY_TEXT:
                later |= shown.keys() | needs
                seen |= wants.keys()
            seen |= {gives[name] for name in needs & gives.keys()}
            later |= needs - gives.keys()
        for name in code.certain(piece.text) & gives.keys():
            del gives[name]
    # A function may use what is shown only behind it.
    bound = frozenset().union(*(code.bound(p.text) for p in pieces if p.kind is not Kind.SHOWN))
    for name in (later - bound) & shown.keys():
        seen |= shown[name]
    waiting = list(seen)
    while waiting:
        for one in wants.get(waiting.pop(), set()) - seen:
            seen.add(one)
            waiting.append(one)
    return seen
