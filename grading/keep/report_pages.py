"""What the pages of the grader have in common: templates that escape, numbers, words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grading.judge.outcome import IN_WORDS, OURS, REFUSED, Outcome
from grading.keep.record import AttemptRecord

BUSY = 4  # processes that want to run, per processor; deadlines are missed then
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(template: str, **content: Any) -> str:
    """A page from its template; whatever comes from a hand-in is escaped in it."""
    return _TEMPLATES.get_template(template).render(
        number=as_number, count=counted, points=in_points, **content
    )


def as_number(points: float | None) -> str:
    """Points as people write them."""
    return "?" if points is None else f"{points:g}"


def counted(number: int, thing: str) -> str:
    """1 hand-in, 2 hand-ins."""
    return f"{number} {thing}{'s' * (number != 1)}"


def in_points(reached: float | None, full: float) -> str:
    """4 of 12 points, 1 of 1 point."""
    return f"{as_number(reached)} of {as_number(full)} point{'s' * (full != 1)}"


def summed(points: Iterable[float | None]) -> float | None:
    """The sum; one unknown part makes the whole unknown."""
    known: list[float] = []
    for part in points:
        if part is None:
            return None
        known.append(part)
    return round(sum(known), 2)


def in_words(record: AttemptRecord) -> str:
    """What became of an attempt, for the teacher."""
    if record.outcome is None:
        return "the run was cut off; grade again"
    words = IN_WORDS[record.outcome]
    if record.outcome in OURS:
        return f"{words}; grade again or look at the record"
    if record.outcome in REFUSED:
        return f"{words}: {record.why}" if record.why else words
    if record.outcome not in {Outcome.PASS, Outcome.PART, Outcome.FAIL}:
        # How one cell ended is no headline for what has most of its points.
        words = f"{'partly passed' if record.reached else 'failed'}; a cell {words}"
    if record.why:
        words += f": {record.why}"
    if record.outcome is not Outcome.PASS and record.seconds.get("load", 0) > BUSY:
        words += "; the machine had far too much to do then, and --rerun grades it again"
    return words
