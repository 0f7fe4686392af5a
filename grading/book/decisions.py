"""What a teacher decided by hand: a mark, a comment, an excuse, each with who and why.

They lie beside the attempts in COURSE/LAB/decisions.json, belong to a person and a check, and so
outlast every run. The list only grows, also when one is taken back; the latest word on a thing
counts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from kafkalab.errors import CourseError
from kafkalab.files import write_whole

FILE = "decisions.json"
MARK, COMMENT, EXCUSE, UNDONE = "mark", "comment", "excuse", "undone"


@dataclass(frozen=True)
class Decision:
    """One word of a teacher's. person: as `of_hand_in` or `of_roster`; check: "" for the lab."""

    person: str
    kind: str
    who: str
    when: str
    check: str = ""
    points: float | None = None
    words: str = ""
    """The comment, or why."""


@dataclass(frozen=True)
class Decided:
    """What holds for a person now."""

    standing: tuple[Decision, ...] = ()
    """All that was not taken back, the first one first."""

    def mark(self, check: str = "") -> Decision | None:
        """The points that were set for a check, or for the whole lab."""
        return self._last(check, MARK)

    def excuse(self, check: str = "") -> Decision | None:
        """Why a check, or the whole lab, does not count."""
        return self._last(check, EXCUSE)

    @property
    def comments(self) -> list[Decision]:
        return [one for one in self.standing if one.kind == COMMENT]

    def _last(self, check: str, kind: str) -> Decision | None:
        """Of a mark and an excuse for the same thing the later one counts."""
        about = [one for one in self.standing if one.check == check and one.kind != COMMENT]
        return about[-1] if about and about[-1].kind == kind else None


def of_hand_in(id: str) -> str:
    """How a decision names somebody by the hand-in."""
    return f"hand-in {id}"


def of_roster(id: str) -> str:
    """How a decision names somebody by the roster. Ids of roster and platform may collide."""
    return f"roster {id}"


def read(folder: Path) -> list[Decision]:
    """All decisions of a lab, the first one first."""
    file = folder / FILE
    if not file.exists():
        return []
    try:
        return [Decision(**entry) for entry in json.loads(file.read_text("utf-8"))]
    except (ValueError, TypeError) as error:
        raise CourseError(
            f"{file} cannot be read.",
            f"What was decided by hand stands there: {error}.",
            "Restore it from a copy.",
        ) from None


def add(folder: Path, new: Iterable[Decision]) -> None:
    """Keep some more."""
    entries = [asdict(one) for one in [*read(folder), *new]]
    write_whole(folder / FILE, json.dumps(entries, ensure_ascii=False, indent=1) + "\n")


def of_person(decisions: Iterable[Decision], person: Collection[str]) -> Decided:
    """What of it holds for a person, who may be named in several ways.

    What is taken back is the latest that was said of a check, or without a check the latest at all.
    """
    standing: list[Decision] = []
    for one in decisions:
        if one.person not in person:
            continue
        if one.kind != UNDONE:
            standing.append(one)
            continue
        same = [at for at, said in enumerate(standing) if one.check in ("", said.check)]
        if same:
            del standing[same[-1]]
    return Decided(tuple(standing))
