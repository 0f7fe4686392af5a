"""The rules of a class: class.toml in the course folder. Applied when marks are told, never stored.

timezone = "Europe/Berlin"

[late]                       what it costs to be late; a lab may have its own
grace = "15 min"             nothing is lost so soon after the deadline
percent_per_day = 10         each day that has begun since the deadline takes so much of the points
at_most = 50                 but no more than this
until = "7 days"             what comes later has no points

[labs.lab01]
due = 2026-11-27T18:00:00
attempts = 3                 only the first so many hand-ins count
counts = "best"              of these: the last (as without this line), the best or the first
worksheet = "lab01.csv"      Moodle's grading worksheet or Gradescope's scores: times and people
late = { steps = [{ after = "0 min", percent = 10 }, { after = "1 day", percent = 40 }] }
"""

from __future__ import annotations

import datetime
import math
import re
import tomllib
import zoneinfo
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading.book.times import NoTime, length, parsed
from kafkalab.errors import CourseError

FILE = "class.toml"
NONE = datetime.timedelta()
LAB = re.compile(r"(?:lab)?_?0*(\d+)(?:_\w+)?")
LAST, BEST, FIRST = "last", "best", "first"
HOW = {"percent_per_hour", "percent_per_day", "steps"}


@dataclass(frozen=True)
class LateRule:
    """What it costs to be late. steps: from how late on, and how many percent."""

    grace: datetime.timedelta = NONE
    percent_per_unit: float = 0
    unit: datetime.timedelta = datetime.timedelta(days=1)
    steps: tuple[tuple[datetime.timedelta, float], ...] = ()
    at_most: float = 100
    until: datetime.timedelta | None = None

    def percent(self, late: datetime.timedelta) -> float:
        """How much of the points is lost, from 0 to 100."""
        if late <= self.grace or late <= NONE:
            return 0
        if self.until is not None and late > self.until:
            return 100
        by_steps = [percent for after, percent in self.steps if late > after]
        lost = by_steps[-1] if by_steps else self.percent_per_unit * math.ceil(late / self.unit)
        return min(lost, self.at_most)


@dataclass(frozen=True)
class LabRule:
    """The rule of one lab."""

    due: datetime.datetime | None = None
    late: LateRule = LateRule()
    counts: str = LAST
    attempts: int | None = None
    worksheet: str = ""


@dataclass(frozen=True)
class Rules:
    """All of class.toml; without the file nothing is due. labs: by their numbers."""

    zone: zoneinfo.ZoneInfo | None = None
    labs: dict[int, LabRule] = field(default_factory=dict)

    def of(self, lab: str) -> LabRule:
        """The rule of a lab."""
        return self.labs.get(number_of(lab), LabRule())

    def moment(self, text: str) -> datetime.datetime:
        """A time as a platform or a table writes it; NoTime where that is none, or has no zone."""
        when = parsed(text)
        if when.tzinfo is None and self.zone is None:
            raise NoTime(f'"{text}" names no zone; write timezone = "…" into {FILE}')
        return when if when.tzinfo else when.replace(tzinfo=self.zone)


def number_of(lab: str) -> int:
    """The number of a lab, however it is named; 0 of what names none."""
    match = LAB.fullmatch(lab)
    return int(match[1]) if match else 0


def read(file: Path) -> Rules:
    """The rules in a file; a CourseError for the first thing that cannot be followed."""
    try:
        return _rules(tomllib.loads(file.read_text("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        why = f"It is not TOML: {error}."
    except (NoTime, ValueError) as error:
        why = f"{error}."
    raise CourseError(
        f"{file} cannot be followed.", why, "The README shows what may stand in it."
    ) from None


def _rules(table: dict[str, Any]) -> Rules:
    _only(table, ("timezone", "late", "labs"), "it")
    zone = _zone(table["timezone"]) if "timezone" in table else None
    late = _late(table.get("late", {}), "[late]")
    labs: dict[int, LabRule] = {}
    for name, rule in _table(table.get("labs", {}), "[labs]").items():
        where = f"[labs.{name}]"
        number = number_of(name)
        if not number:
            raise ValueError(f"{where} names no lab; write it as [labs.lab01]")
        if number in labs:
            raise ValueError(f"there are two rules for lab {number:02d}")
        _only(_table(rule, where), ("due", "late", "counts", "attempts", "worksheet"), where)
        labs[number] = LabRule(
            _due(rule["due"], zone, where) if "due" in rule else None,
            _late(rule["late"], f"late of {where}") if "late" in rule else late,
            _one_of(rule.get("counts", LAST), (LAST, BEST, FIRST), f"counts of {where}"),
            _count(rule["attempts"], f"attempts of {where}") if "attempts" in rule else None,
            _text(rule.get("worksheet", ""), f"worksheet of {where}"),
        )
        if labs[number].due is None and "late" in rule:
            raise ValueError(f"{where} has a rule for what is late, and nothing is due")
    return Rules(zone, labs)


def _zone(name: object) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(_text(name, "timezone"))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f'timezone "{name}" is not known; "Europe/Berlin" is one') from None


def _due(due: object, zone: datetime.tzinfo | None, where: str) -> datetime.datetime:
    if not isinstance(due, datetime.datetime):
        raise ValueError(f"due of {where} needs a day and a time, as in 2026-11-27T18:00:00")
    if due.tzinfo is not None:
        return due
    if zone is None:
        raise ValueError(f'due of {where} has no zone; write timezone = "Europe/Berlin" at the top')
    # Of an hour that the clocks show twice, the later one is meant: nobody loses by it.
    return due.replace(tzinfo=zone, fold=1)


def _late(table: object, where: str) -> LateRule:
    rule = _table(table, where)
    _only(rule, ("grace", "at_most", "until", *HOW), where)
    if len(HOW & rule.keys()) > 1:
        raise ValueError(f"{where} has more than one of {', '.join(sorted(HOW))}")
    is_hourly = "percent_per_hour" in rule
    return LateRule(
        _length(rule["grace"], f"grace in {where}") if "grace" in rule else NONE,
        _percent(rule.get("percent_per_hour", rule.get("percent_per_day", 0)), where),
        datetime.timedelta(hours=1) if is_hourly else datetime.timedelta(days=1),
        _steps(rule["steps"], where) if "steps" in rule else (),
        _percent(rule.get("at_most", 100), where),
        _length(rule["until"], f"until in {where}") if "until" in rule else None,
    )


def _steps(steps: object, where: str) -> tuple[tuple[datetime.timedelta, float], ...]:
    if not isinstance(steps, list):
        raise ValueError(f"steps in {where} is no list")
    found = []
    for step in steps:
        one = _table(step, f"a step in {where}")
        _only(one, ("after", "percent"), f"a step in {where}")
        if len(one) < 2:
            raise ValueError(f"a step in {where} needs after and percent")
        found.append((_length(one["after"], f"after in {where}"), _percent(one["percent"], where)))
    if found != sorted(found) or len({after for after, _ in found}) < len(found):
        raise ValueError(f"the steps in {where} do not go up")
    return tuple(found)


def _length(words: object, where: str) -> datetime.timedelta:
    try:
        return length(_text(words, where))
    except NoTime as why:
        raise ValueError(f"{where}: {why}") from None


def _percent(number: object, where: str) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 100:
        raise ValueError(f"{number!r} in {where} is no number from 0 to 100")
    return number


def _count(number: object, where: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"{where} is no whole number above 0")
    return number


def _one_of(word: object, words: tuple[str, ...], where: str) -> str:
    if word not in words:
        raise ValueError(f"{where} is none of {', '.join(words)}")
    return str(word)


def _text(text: object, where: str) -> str:
    if not isinstance(text, str):
        raise ValueError(f"{where} is no text in quotation marks")
    return text


def _table(table: object, where: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise ValueError(f"{where} is no table")
    return table


def _only(table: dict[str, Any], known: Iterable[str], where: str) -> None:
    if unknown := sorted(table.keys() - set(known)):
        names = ", ".join(sorted(known))
        raise ValueError(f"{where} has {', '.join(unknown)}; it may have {names}")
