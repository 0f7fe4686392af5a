"""The work of the lesson: a machine develops a film, and its worker waits for the machine."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any


def develop(film: bytes) -> None:
    """Take as many seconds as stand in the record; a ValueError where no number stands there.

    The seconds are the work itself and no wait for something: they take no processor, so that four
    workers are four times as many on any machine.
    """
    threading.Event().wait(float(film))


def developed(film: bytes) -> bool:
    """The same, and whether it could be done."""
    try:
        develop(film)
    except ValueError:
        return False
    return True


def spoilt(
    came: Mapping[int, int], answer: Mapping[bytes, Enum], *, busy: Sequence[int], torn: int
) -> str:
    """What the answers that a reader gave make of some films, from the deliveries of each.

    To accept and to reject look the same there, so what a torn film was said to be is asked, too.
    """
    if came[torn] > 1:
        return f"the torn film came {came[torn]} times, and it never could be developed."
    if answer[b"torn"].name == "ACCEPT":
        return "to accept says that a film is done, and the torn one never was."
    if lost := [offset for offset in busy if came[offset] == 1]:
        return f"busy film {lost[0]} came once and was never developed."
    return "" if all(came[offset] == 2 for offset in busy) else "the busy films came too often."


def fits(told: Any) -> str:
    """Of the programs a to d of the second exercise: which of them want a share group."""
    wrong = {
        "a": "a share group keeps no order, and the payments of an account need theirs.",
        "b": "each photo stands for itself, and a damaged one must not stop the rest.",
        "c": "no transaction takes the acknowledgements of a share group along.",
        "d": "pages need no order, may be fetched twice, and a slow one need not keep the others.",
    }
    for program in sorted(set(told) ^ {"b", "d"}):
        return wrong.get(program, f"there is no program {program!r}.")
    return ""
