"""What is to be said of a reader's answers: where an index leads, and what retention frees."""

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
        return f"that pair is of offset {known[place]:,}, which is larger than yours."
    if any(place < position and indexed <= offset for indexed, position in pairs):
        return "it would find the record from there, and read more than it must."
    return ""


def after_problem(offset: int, first: int, end: int) -> str:
    """Why this is not the offset of a record that came after all before it were deleted.

    `first` is the first offset that the log has now, `end` the next one before they were deleted.
    """
    if first < end:
        return f"the log still has records from offset {first} on."
    if offset != end:
        return f"the log ended at {end:,}, and what is deleted frees no offset."
    return ""
