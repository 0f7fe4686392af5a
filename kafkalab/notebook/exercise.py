"""A small exercise of a page: a blank of one to three lines, and an instant check of it."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import Any

from kafkalab.notebook import kept
from kafkalab.notebook.text import Text

KIND = "exercises"


def check(name: str, value: Any, problem: Callable[[Any], str]) -> Text:
    """What is to be said of an answer, which stands as `...` until the reader has written one.

    problem: says what is not right yet of a value, and nothing of a right one. What it raises is
    told as a value of another kind, because it is the reader's value that it fell over.
    """
    if isinstance(value, EllipsisType):
        return Text("Not tried yet: write your lines in the place of the three dots.")
    try:
        found = problem(value)
    except Exception as error:
        found = f"this cannot be looked at: {type(error).__name__}: {error}"
    before = kept.answer(KIND, name).get("solved", False)
    kept.keep(KIND, name, solved=before or not found)
    shown = repr(value)
    shown = f"{shown[:80]}…" if len(shown) > 80 else shown
    return Text(f"Not yet: {found} You have `{shown}`." if found else "**Solved.**")
