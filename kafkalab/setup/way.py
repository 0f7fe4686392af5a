"""The way through the course: its pages, how far the learner is on each, and what comes next.

Read from the learner's copies and from progress.json beside them, of this folder alone.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from kafkalab.notebook import ending, kept
from kafkalab.setup import copies

MINUTES = re.compile(r"\b(?P<number>\d+) minutes\b")
NEEDS = re.compile(r"\bNeeds\b(.*)", re.DOTALL)
NUMBERS = re.compile(r"\b(\d\d)\b(?: to (\d\d)\b)?")
# The number of its first lesson -> a part of the course.
PARTS = {
    "00": "One broker",
    "06": "Copies",
    "11": "Sharing the work",
    "16": "What is kept, and by whom",
    "18": "Who may do what",
    "21": "Beyond one cluster",
}
LABS = "Labs"


@dataclass(frozen=True)
class Stage:
    """A lesson or a lab. `page`: its copy, relative to the folder of the copies."""

    page: Path
    title: str
    minutes: int | None
    needs: tuple[str, ...]
    """Numbers of lessons."""
    is_done: bool
    """A lesson whose last cell was run; a lab with all the points of its public checks."""
    is_begun: bool
    close: int
    """Predictions and choices that came true, or nearly."""
    off: int
    solved: int
    """Exercises."""
    points: tuple[float, float] | None = None
    """Of a lab, as `lab.score()` told last: reached, and how many there are."""

    @property
    def is_lab(self) -> bool:
        return self.page.parts[0] == "labs"

    @property
    def number(self) -> str:
        return copies.short_name(self.page)

    @property
    def part(self) -> str:
        """Of the course. All labs are one."""
        return LABS if self.is_lab else part(self.number)


def part(number: str) -> str:
    """The part of the course that a lesson belongs to, by its number."""
    return PARTS[max(first for first in PARTS if first <= number)]


def steps(course: Path, work: Path) -> list[Stage]:
    """Every lesson and lab in the order of the course; CourseError if progress.json is damaged."""
    answered = kept.read(work)
    pages = [path for path in copies.offered(course) if path.suffix == ".ipynb"]
    return [_step(course, path, answered.get(path.stem, {})) for path in pages]


def following(found: list[Stage]) -> Stage | None:
    """What to do next: a lab that is begun or whose lessons are done, else the next lesson.

    None at the end of the way.
    """
    done = {step.number for step in found if step.is_done}
    open_steps = [step for step in found if not step.is_done and set(step.needs) <= done]
    labs = [step for step in open_steps if step.is_lab]
    lessons = [step for step in found if not step.is_lab and not step.is_done]
    return next(iter([*labs, *lessons]), None)


def _step(course: Path, page: Path, answered: dict) -> Stage:
    cells = json.loads((course / page).read_text("utf-8"))["cells"]
    title, facts = (_text(cell) for cell in cells[:2])
    verdicts = [
        one.get("verdict")
        for kind in ("predictions", "choices")
        for one in answered.get(kind, {}).values()
    ]
    score = answered.get(ending.KIND, {}).get("score", {})
    points = (score["reached"], score["full"]) if score else None
    is_lab = page.parts[0] == "labs"
    reached = answered.get(ending.KIND, {}).get(ending.NAME, {}).get("reached", False)
    return Stage(
        page=page,
        title=title.splitlines()[0].strip("# "),
        minutes=minutes(facts),
        needs=needs(facts),
        is_done=points is not None and points[0] == points[1] if is_lab else bool(reached),
        is_begun=bool(answered),
        close=verdicts.count("close"),
        off=verdicts.count("off"),
        solved=sum(one.get("solved", False) for one in answered.get("exercises", {}).values()),
        points=points,
    )


def minutes(facts: str) -> int | None:
    """How long a page takes, from its second cell."""
    found = MINUTES.search(facts)
    return int(found["number"]) if found else None


def needs(facts: str) -> tuple[str, ...]:
    """The lessons that a page needs, from its second cell: of "00, 02 and 05" or of "03 to 05"."""
    found = NEEDS.search(MINUTES.sub("", facts))
    return tuple(
        f"{number:02}"
        for first, last in NUMBERS.findall(found[1] if found else "")
        for number in range(int(first), int(last or first) + 1)
    )


def _text(cell: dict) -> str:
    return "".join(cell["source"])
