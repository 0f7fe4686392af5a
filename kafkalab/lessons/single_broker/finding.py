"""What is to be said of a position to which a reader would jump with an index."""

from __future__ import annotations

from collections.abc import Sequence


def jump_problem(place: int, pairs: Sequence[tuple[int, int]], offset: int) -> str:
    """Why the broker would not jump there for this offset; nothing where it would.

    `pairs` are those of the index: an offset and its position, both growing.
    """
    known = {position: indexed for indexed, position in pairs}
    if place not in known:
        return "no pair of the index has this position."
    if known[place] > offset:
        return f"there begins offset {known[place]:,}; yours lies before it."
    if any(place < position and indexed <= offset for indexed, position in pairs):
        return "it would find the record from there, and read more than it must."
    return ""
