"""Hand-ins that were made from another version of the lab than the one that grades them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grading.define import edition
from grading.define.definition import Definition
from grading.handin.submission import Submission

MOST_NAMED = 5


def noted(lab: Definition, submissions: Sequence[Submission]) -> tuple[list[Submission], list[str]]:
    """The same, each with what is to be said of its version on the page of its student; and a
    sentence for each other version, with those who have it.
    """
    said = edition.told(lab, (one.notebook.stamp if one.notebook else None for one in submissions))
    found: dict[str, list[str]] = {}
    told = []
    for one, words in zip(submissions, said, strict=True):
        if words:
            found.setdefault(words, []).append(one.student)
        told.append(replace(one, notes=(*one.notes, words)) if words else one)
    return told, [f"{_some(students)}: {words}" for words, students in found.items()]


def _some(students: Sequence[str]) -> str:
    more = f" and {len(students) - MOST_NAMED} more" if students[MOST_NAMED:] else ""
    return f"{', '.join(students[:MOST_NAMED])}{more}"
