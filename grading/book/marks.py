"""Record + rule -> mark: pure, made anew each time marks are told."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from grading.book.roster import Found
from grading.book.rules import BEST, FIRST, LabRule
from grading.judge.outcome import REFUSED
from grading.keep.record import AttemptRecord


@dataclass(frozen=True)
class Arrival:
    """When something was handed in, as far as that is known; why it is not."""

    when: datetime.datetime | None = None
    why: str = "nobody says when"


@dataclass(frozen=True)
class Mark:
    """What a person gets for a lab, and all that must be said about it.

    earned: points before the rule for late ones; points: after it. None where there is no number.
    """

    record: AttemptRecord
    found: Found
    earned: float | None
    full: float
    points: float | None
    words: tuple[str, ...] = ()
    """Why the points are not simply those of the checks."""
    unknown: str = ""
    """Something is due, and why nobody knows when this was handed in."""

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def name(self) -> str:
        """The roster's spelling, unless the hand-in's tells two people of one name apart."""
        is_alone = self.record.plain in ("", self.record.student)
        return self.found.person.shown if self.found.person and is_alone else self.record.student

    @property
    def instead(self) -> str:
        """What stands where there are no points."""
        if self.record.outcome in REFUSED:
            return str(self.record.outcome).replace("_", " ")
        return "?"


def mark(record: AttemptRecord, found: Found, rule: LabRule, arrival: Arrival) -> Mark:
    """The mark for an attempt. What could not be read has no number: that is a teacher's word."""
    earned = None if record.outcome in REFUSED else record.reached
    points, words, unknown = earned, [], ""
    if rule.due is not None and earned is not None:
        if arrival.when is None:
            unknown = arrival.why
        else:
            extra = found.person.extra if found.person else datetime.timedelta()
            late = in_utc(arrival.when) - in_utc(rule.due) - extra
            if percent := rule.late.percent(late):
                points = bounded(earned * (1 - percent / 100), record.full)
                words.append(
                    f"Handed in {in_words(late)} late"
                    + (f", beyond extra time of {in_words(extra)}" if extra else "")
                    + f" (due {rule.due:%Y-%m-%d %H:%M %Z}): {percent:g} % less, "
                    f"{points:g} points and not {earned:g}"
                )
    return Mark(record, found, earned, record.full, points, tuple(words), unknown)


def of_several(marks: Sequence[Mark], rule: LabRule) -> Mark:
    """The one that counts of a person's hand-ins, which come in the order of handing in.

    What could not be read costs no attempt.
    """
    read = [one for one in marks if one.record.outcome not in REFUSED] or list(marks)
    counting = read[: rule.attempts]
    if rule.counts == BEST:
        return max(counting, key=lambda one: (one.points is not None, one.points or 0))
    return counting[0 if rule.counts == FIRST else -1]


def bounded(points: float, full: float) -> float:
    """Points between none and all."""
    return round(min(max(points, 0.0), full), 2)


def in_utc(when: datetime.datetime) -> datetime.datetime:
    """Times in one zone are otherwise subtracted as clocks show them, an hour off in October."""
    return when.astimezone(datetime.UTC)


def in_words(length: datetime.timedelta) -> str:
    """A length of time as people say it: 1 day 2 h, 40 min."""
    minutes = max(1, int(length.total_seconds() // 60))
    days, minutes = divmod(minutes, 24 * 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{days} day{'s' * (days != 1)}"] * bool(days) + [f"{hours} h"] * bool(hours)
    return " ".join(parts + [f"{minutes} min"] * bool(minutes and not days))
