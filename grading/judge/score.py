"""From evidence to points: pure, so that a changed lab can be scored again without a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from grading.judge.checks import Check, Result, share
from grading.judge.outcome import OURS


@dataclass(frozen=True)
class Points:
    """Points reached and points there are. `reached` is None where a fault of ours is in it."""

    reached: float | None
    full: float

    def __str__(self) -> str:
        reached = "?" if self.reached is None else f"{self.reached:g}"
        return f"{reached} of {self.full:g}"


def of_check(check: Check, result: Result | None) -> Points:
    """Equal shares for the findings of a check. Without a result there is no evidence: 0."""
    if result is None:
        return Points(0, check.points)
    if result.outcome in OURS:
        return Points(None, check.points)
    good, all_of_them = share(result)
    exact = Fraction(check.points) * Fraction(good, all_of_them) if all_of_them else Fraction(0)
    return Points(round(float(exact), 2), check.points)


def total(checks: Iterable[Check], results: Mapping[str, Result]) -> Points:
    """The sum over checks; one unknown part makes the whole unknown."""
    parts = [of_check(check, results.get(check.id)) for check in checks]
    full = round(sum(part.full for part in parts), 2)
    if any(part.reached is None for part in parts):
        return Points(None, full)
    return Points(round(sum(part.reached or 0 for part in parts), 2), full)
