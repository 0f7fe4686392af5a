"""Times and lengths of time as people, platforms and spreadsheets write them."""

from __future__ import annotations

import datetime
import math
import re

LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*(min|minutes?|h|hours?|d|days?)", re.IGNORECASE)
SECONDS = {"m": 60, "h": 3600, "d": 86400}
FORMS = (
    # Moodle's worksheet, in English
    *("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M"),
    # spreadsheets, and Gradescope
    *("%d.%m.%Y %H:%M", "%d.%m.%Y, %H:%M", "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S %Z"),
)


class NoTime(Exception):
    """This says no time, or no length of time."""


def length(words: str) -> datetime.timedelta:
    """A length of time: "30 min", "2 h", "1 day"."""
    match = LENGTH.fullmatch(words.strip())
    if match is None:
        raise NoTime(f'"{words}" is no length of time; write it as "30 min", "2 h" or "1 day"')
    return datetime.timedelta(seconds=float(match[1]) * SECONDS[match[2][0].lower()])


def parsed(text: str) -> datetime.datetime:
    """A time as a platform or a table writes it; without a zone where none is written."""
    text = " ".join(text.split())
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        pass
    for form in FORMS:
        try:
            return datetime.datetime.strptime(text, form)
        except ValueError:
            continue
    raise NoTime(f'"{text}" is no time; write it as "2026-11-27 18:00"')


def in_utc(when: datetime.datetime) -> datetime.datetime:
    """Times in one zone are otherwise subtracted as clocks show them, an hour off in October."""
    return when.astimezone(datetime.UTC)


def in_words(length: datetime.timedelta) -> str:
    """A length of time as people say it, rounded up: 1 day 2 h, 40 min."""
    minutes = math.ceil(length.total_seconds() / 60)
    days, minutes = divmod(minutes, 24 * 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{days} day{'s' * (days != 1)}"] * bool(days) + [f"{hours} h"] * bool(hours)
    return " ".join(parts + [f"{minutes} min"] * bool(minutes and not (days and hours)))
