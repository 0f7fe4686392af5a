"""What the name of a file or folder says about who handed it in, and when.

Learning platforms write a number or a login of their own into names; two people of one name have
two. Where there is none, the name itself stands for the person.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath

MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_.*")
BLACKBOARD = re.compile(r".+_(?P<login>[^_]+)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_.*|\.\w+)?")
CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<number>\d+)_(?P<second>\d+)_.+")
GRADESCOPE = re.compile(r"submission_(?P<number>\d+)")
LAB = re.compile(r"lab\W?\d+", re.IGNORECASE)
NUMBERS_AT_END = re.compile(r"(?<![\d])(\d+(?:[-_.]\d+)*)$")
COPY_NUMBER = re.compile(r"\((\d{1,3})\)$|-(\d{1,3})$")
NO_DATE = 2  # numbers in a row: "01-2" is copy 2 of lab 01, three are a date


@dataclass(frozen=True)
class Who:
    """Somebody as the platform tells them. `id` is what belongs to no one else in the upload."""

    name: str
    number: str = ""
    login: str = ""

    @property
    def id(self) -> str:
        return self.number or self.login or self.name


@dataclass(frozen=True)
class Said:
    """What a place in an upload says. `platform` is empty for plain names."""

    who: Who
    platform: str = ""
    when: datetime.datetime | None = None
    is_late: bool = False
    """Whether the platform marked it so, without saying by how much."""


def said(place: PurePosixPath) -> Said:
    """Read from the first folder, else from the file's name."""
    top = place.parts[0] if place.parts else ""
    if match := MOODLE.fullmatch(top):
        return Said(Who(shown(match["name"]), match["number"]), "Moodle")
    if (match := BLACKBOARD.fullmatch(top)) and (when := _time(match["when"])):
        login = shown(match["login"])
        return Said(Who(login, login=login), "Blackboard", when)
    if (match := CANVAS.fullmatch(top)) and not _is_date(match):
        who = Who(shown(match["name"]), match["number"])
        return Said(who, "Canvas", is_late=bool(match["late"]))
    if len(place.parts) > 1:
        platform = "Gradescope" if GRADESCOPE.fullmatch(top) else ""
        return Said(Who(shown(top)), platform)
    return Said(Who(shown(stem(top))))


def shown(name: str) -> str:
    """A name as it can be shown and written anywhere."""
    name = unicodedata.normalize("NFC", name)
    return "".join(c for c in name if c.isprintable()).strip()[:100] or "unnamed"


def stem(name: str) -> str:
    """A file's name without its ending, also where a browser or an archive has two of them."""
    short = PurePosixPath(name).stem
    is_double = name.lower().endswith((".ipynb.json", ".ipynb.txt")) or (
        PurePosixPath(short).suffix.lower() == ".tar"
    )
    return PurePosixPath(short).stem if is_double else short


def copy_number(name: str) -> int:
    """The number that platforms and browsers append: lab-2, lab (2). The end of a date is none."""
    plain = stem(name).strip()
    if (counted := COPY_NUMBER.search(plain)) is None:
        return 0
    if counted[1]:
        return int(counted[1])
    numbers = NUMBERS_AT_END.search(plain)
    parts = re.split(r"[-_.]", numbers[1]) if numbers else []
    if len(parts) > NO_DATE or any(len(part) >= 4 for part in parts):
        return 0
    return int(counted[2])


def _time(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%d-%H-%M-%S")
    except ValueError:
        return None


def _is_date(match: re.Match[str]) -> bool:
    """Whether what stands in the place of Canvas's numbers is a date, behind the name of a lab."""
    if LAB.match(match["name"]):
        return True
    return _fits(match["number"], "%Y%m%d", 8) and (
        _fits(match["second"], "%H%M%S", 6) or _fits(match["second"], "%H%M", 4)
    )


def _fits(text: str, form: str, length: int) -> bool:
    try:
        return len(text) == length and datetime.datetime.strptime(text, form).year < 2100
    except ValueError:
        return False
