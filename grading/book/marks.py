"""Record + decisions + rule -> mark: pure, made anew each time marks are told."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grading.book.decisions import Decided
from grading.book.roster import Found, Person
from grading.book.rules import BEST, FIRST, LabRule
from grading.book.times import in_utc, in_words
from grading.judge.outcome import REFUSED, Outcome
from grading.keep.record import FINISHED, AttemptRecord

EXCUSED = "excused"
NOTHING = "nothing was handed in"
WAITS = "the hand-in is not graded yet"


@dataclass(frozen=True)
class Arrival:
    """When something was handed in, as far as that is known; why it is not."""

    when: datetime.datetime | None = None
    why: str = "nobody says when they were handed in"


@dataclass(frozen=True)
class CheckMark:
    """What a check gives after all decisions. An excused one counts neither way."""

    check: dict[str, Any]
    reached: float | None
    full: float
    words: str = ""
    """What was decided, by whom and why."""
    is_excused: bool = False


@dataclass(frozen=True)
class Absent:
    """Somebody on the roster without a hand-in, and what a teacher decided about that."""

    person: Person
    points: float | None = None
    words: tuple[str, ...] = ()
    is_excused: bool = False
    waits: bool = False
    """There is a hand-in, which is to be graded."""
    perhaps: tuple[str, ...] = ()
    """Hand-ins that may be theirs as well as somebody else's."""

    @property
    def is_missing(self) -> bool:
        """Whether it is sure that nothing is there."""
        return not (self.waits or self.perhaps)

    @property
    def instead(self) -> str:
        """What stands where there are no points."""
        return EXCUSED if self.is_excused else ""

    @property
    def remarks(self) -> str:
        return "; ".join(self.words) or state(self.waits, self.perhaps)

    def as_mark(self, full: float) -> Mark:
        """The same, as if there were a hand-in with nothing in it."""
        record = AttemptRecord(
            key="", student=self.person.shown, lab="", lab_digest="", grader="", hand_in="",
            status=FINISHED, started="", outcome=Outcome.NOTHING_HANDED_IN, full=full,
        )  # fmt: skip
        found, points = Found(self.person), self.points
        return Mark(record, found, (), points, full, points, self.words, "", self.is_excused)


@dataclass(frozen=True)
class Mark:
    """What a person gets for a lab, and all that must be said about it.

    earned: points before the rule for late ones; points: after it. None where there is no number.
    """

    record: AttemptRecord
    found: Found
    lines: tuple[CheckMark, ...]
    earned: float | None
    full: float
    points: float | None
    words: tuple[str, ...] = ()
    """Why the points are not simply those of the checks, and a teacher's comments."""
    unknown: str = ""
    """Something is due, and why nobody knows when this was handed in."""
    is_excused: bool = False

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
        if self.is_excused:
            return EXCUSED
        if self.record.outcome in REFUSED:
            return str(self.record.outcome).replace("_", " ")
        return "?"


def mark(
    record: AttemptRecord,
    found: Found,
    rule: LabRule,
    arrival: Arrival,
    decided: Decided = Decided(),  # noqa: B008 - it cannot change
) -> Mark:
    """The mark for an attempt. What could not be read has no number but a teacher's."""
    is_refused = record.outcome in REFUSED
    lines = tuple(_line(check, decided, is_refused) for check in record.checks)
    full = _full(record, lines)
    earned = _sum(record, lines)
    words = [line.words for line in lines if line.words]
    whole, excuse = decided.mark(), decided.excuse()
    if whole is not None:
        earned = bounded(whole.points or 0, full)
        words.append(f"{earned:g} of {full:g} points, set by {whole.who}: {whole.words}")
    if excuse is not None:
        earned = None
        words.append(f"Excused by {excuse.who}, this lab does not count: {excuse.words}")
    points, unknown = earned, ""
    # No rule changes what a teacher set for the whole lab.
    if rule.due is not None and earned is not None and whole is None:
        if arrival.when is None:
            unknown = arrival.why
        else:
            late = in_utc(arrival.when) - in_utc(rule.due) - _extra(found.person)
            percent = rule.late.percent(late)
            points = bounded(earned * (1 - percent / 100), full)
            if percent:
                words.append(_late(late, found.person, rule.due, percent, earned, points))
    words += [
        f"{_task(record, one.check)}{one.who} writes: {one.words}" for one in decided.comments
    ]
    return Mark(
        record, found, lines, earned, full, points, tuple(words), unknown, excuse is not None
    )


def state(waits: bool, perhaps: Sequence[str]) -> str:
    """How it stands with somebody who has no mark."""
    if waits:
        return WAITS
    return f"nobody can say whether this is theirs: {', '.join(perhaps)}" if perhaps else NOTHING


def absent(
    person: Person, decided: Decided, waits: bool = False, perhaps: tuple[str, ...] = ()
) -> Absent:
    """What counts for somebody of whom nothing is graded. waits: what they handed in is to be."""
    now = state(waits, perhaps)
    said = f"{now[0].upper()}{now[1:]}"
    words = [f"{one.who} writes: {one.words}" for one in decided.comments]
    if one := decided.mark():
        words.insert(0, f"{said}; {one.points:g} points, set by {one.who}: {one.words}")
        return Absent(person, one.points, tuple(words), waits=waits, perhaps=perhaps)
    if one := decided.excuse():
        words.insert(0, f"{said}; excused by {one.who}: {one.words}")
        return Absent(person, None, tuple(words), True, waits, perhaps)
    return Absent(person, None, (now, *words) if words else (), waits=waits, perhaps=perhaps)


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


def _line(check: dict[str, Any], decided: Decided, is_refused: bool) -> CheckMark:
    id, full = check["id"], check["full"]
    if one := decided.mark(id):
        reached = bounded(one.points or 0, full)
        said = f"{reached:g} of {full:g} points, set by {one.who}: {one.words}"
    elif one := decided.excuse(id):
        said = f"does not count, excused by {one.who}: {one.words}"
        return CheckMark(check, 0, 0, f"Task {check['task']}, {check['title']}: {said}", True)
    else:
        # What could not be run has no number, and none of a check either.
        return CheckMark(check, None if is_refused else check["reached"], full)
    return CheckMark(check, reached, full, f"Task {check['task']}, {check['title']}: {said}")


def _full(record: AttemptRecord, lines: Sequence[CheckMark]) -> float:
    excused = sum(line.check["full"] for line in lines if line.is_excused)
    return round(record.full - excused, 2)


def _sum(record: AttemptRecord, lines: Sequence[CheckMark]) -> float | None:
    """The points of all checks, where they are known."""
    is_decided = any(line.words for line in lines)
    is_run = record.outcome not in REFUSED and record.reached is not None
    if not is_decided:
        return record.reached if is_run else None
    parts = [line.reached for line in lines]
    if record.outcome not in REFUSED:
        # Where a check of ours broke, a teacher may have settled it.
        is_broken = any(check["reached"] is None for check in record.checks)
        if None in parts or not (is_run or is_broken):
            return None
    return round(sum(part or 0 for part in parts), 2)


def _extra(person: Person | None) -> datetime.timedelta:
    return person.extra if person else datetime.timedelta()


def _late(
    late: datetime.timedelta,
    person: Person | None,
    due: datetime.datetime,
    percent: float,
    earned: float,
    points: float,
) -> str:
    extra = f", beyond extra time of {in_words(_extra(person))}" if _extra(person) else ""
    return (
        f"Handed in {in_words(late)} late{extra} (due {due:%Y-%m-%d %H:%M %Z}): "
        f"{percent:g} % less, {points:g} points and not {earned:g}"
    )


def _task(record: AttemptRecord, id: str) -> str:
    """How a note begins that belongs to a check: its page puts it there."""
    check = next((one for one in record.checks if one["id"] == id), None)
    return f"Task {check['task']}, {check['title']}: " if check else ""
