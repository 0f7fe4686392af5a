"""Wrong answers of a lab: each names the checks that it must fail.

They are written for one task each, and put together where they cannot hide one another.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from grading.define.definition import Definition
from grading.handin.weave import task_cells
from grading.judge.checks import Check
from kafkalab.errors import CourseError


@dataclass(frozen=True)
class WrongAnswer:
    """An answer that is wrong in one way. `fails`: what must fail; `also`: what may fail too."""

    name: str
    task: int
    why: str
    fails: frozenset[str]
    also: frozenset[str]
    answer: str

    @property
    def touches(self) -> frozenset[str]:
        return self.fails | self.also

    def hides(self, other: WrongAnswer) -> bool:
        """Whether a check that the other must fail could fail in one run because of this one."""
        return self.task == other.task or bool(self.touches & other.fails)


def wrong_answers(lab: Definition, solved: NotebookNode) -> list[WrongAnswer]:
    """Everything in wrong/, with replacements made in the reference answer."""
    reference = task_cells(solved)
    found = []
    for file in sorted((lab.place.teacher / "wrong").glob("*.toml")):
        table = tomllib.loads(file.read_text("utf-8"))
        try:
            task = table["task"]
            answer = table.get("answer") or _replaced(reference[task], table["replace"])
            found.append(
                WrongAnswer(
                    file.stem,
                    task,
                    table["why"],
                    frozenset(table["fails"]),
                    frozenset(table.get("also", ())),
                    answer,
                )
            )
        except (KeyError, ValueError) as error:
            raise CourseError(
                f"{file} is no wrong answer.", f"{type(error).__name__}: {error}", "Mend it."
            ) from None
    return found


def _replaced(reference: str, pairs: dict[str, str]) -> str:
    for old, new in pairs.items():
        if reference.count(old) != 1:
            raise ValueError(f"{old!r} stands {reference.count(old)} times in the reference answer")
        reference = reference.replace(old, new)
    return reference


def gaps(checks: Sequence[Check], wrong: Iterable[WrongAnswer]) -> Iterator[str]:
    """Checks that no wrong answer fails, and names that are no checks."""
    ids = {check.id for check in checks}
    wrong = list(wrong)
    for answer in wrong:
        if unknown := answer.touches - ids:
            yield f"{answer.name} names {', '.join(sorted(unknown))}, which is no check"
        if not answer.fails:
            yield f"{answer.name} fails nothing"
    failed = frozenset().union(*(answer.fails for answer in wrong))
    for check in checks:
        if check.id not in failed:
            yield f"no wrong answer fails {check.id}"


def pack(wrong: Sequence[WrongAnswer], variant: int = 0) -> list[list[WrongAnswer]]:
    """Put wrong answers together that cannot hide one another.

    First fit: the last task first, and of a task what touches most. So what needs a run to its
    end is in as few runs as can be, and the others end early. A variant shuffles the rest: what
    hides behind another answer in one combination comes out in the next.
    """
    order = list(wrong)
    random.Random(variant).shuffle(order)
    groups: list[list[WrongAnswer]] = []
    for answer in sorted(order, key=lambda answer: (-answer.task, -len(answer.touches))):
        for group in groups:
            if not any(answer.hides(other) or other.hides(answer) for other in group):
                group.append(answer)
                break
        else:
            groups.append([answer])
    return groups


def last_task(wrong: Iterable[WrongAnswer], checks: Iterable[Check]) -> int | None:
    """The task after whose checks there is nothing left that these answers must fail.

    None where a check that they must fail looks after the last cell.
    """
    must = frozenset().union(*(answer.fails for answer in wrong))
    failed = [check for check in checks if check.id in must]
    if any(check.at == "end" for check in failed):
        return None
    return max([*(answer.task for answer in wrong), *(check.task for check in failed)])


def up_to(last: int, checks: Iterable[Check]) -> frozenset[str]:
    """The checks that a run comes to which ends after those of a task."""
    return frozenset(check.id for check in checks if check.at == "after" and check.task <= last)
