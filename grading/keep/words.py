"""Points and outcomes as people read them, on pages and on the screen alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grading.judge.outcome import IN_WORDS, OURS, REFUSED, Outcome

if TYPE_CHECKING:
    from grading.keep.record import AttemptRecord

BUSY = 4  # processes that want to run, per processor; deadlines are missed then


def as_number(points: float | None) -> str:
    """Points as people write them: two digits behind the point, and no zeros at the end."""
    return "?" if points is None else f"{points:.2f}".rstrip("0").rstrip(".")


def counted(number: int, thing: str) -> str:
    """1 hand-in, 2 hand-ins."""
    return f"{number} {thing}{'s' * (number != 1)}"


def in_points(reached: float | None, full: float) -> str:
    """4 of 12 points, 1 of 1 point."""
    return f"{as_number(reached)} of {as_number(full)} point{'s' * (full != 1)}"


def headline(record: AttemptRecord) -> str:
    """What became of an attempt, in a few words."""
    if record.outcome is None:
        return "cut off"
    words = IN_WORDS[record.outcome]
    if record.outcome in OURS | REFUSED | {Outcome.PASS, Outcome.PART, Outcome.FAIL}:
        return words
    # How one cell ended is no headline for what has most of its points.
    return f"{'partly passed' if record.reached else 'failed'}; a cell {words}"


def in_words(record: AttemptRecord) -> str:
    """The same with the reason and what to do, for the teacher."""
    words = headline(record)
    if record.outcome is None:
        return f"{words}; grade again"
    if record.outcome in OURS:
        return f"{words}; grade again or look at the record"
    if record.why:
        words += f": {record.why}"
    is_run = record.outcome not in REFUSED | {Outcome.PASS}
    if is_run and record.seconds.get("load", 0) > BUSY:
        words += "; the machine had far too much to do then, and --rerun grades it again"
    return words
