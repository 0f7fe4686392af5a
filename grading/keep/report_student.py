"""The page that a student gets back: the cause first, what the checks saw, then the hint.

Hidden checks appear with their points, and with their title where some were lost: what such a check
looked for is told, what it saw is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup

from grading.define.definition import Definition
from grading.judge.outcome import IN_WORDS, OURS, REFUSED, Outcome
from grading.keep.evidence import Evidence
from grading.keep.record import AttemptRecord
from grading.keep.report_pages import page, summed
from grading.keep.words import in_points
from grading.practice import hints
from grading.practice.show import not_run, sign

LONGEST_OUTPUT = 4_000
LONGEST_CODE = 20_000
ABOUT_A_TASK = re.compile(r"(?:The cell of )?task (\d+)\b", re.IGNORECASE)
"""How a note begins that belongs to a task."""
TASK_IN_FRONT = re.compile(r"Task \d+: (?P<rest>\w.*)", re.DOTALL)
NOT_YOURS = "could not be looked at, which is no fault of yours; your teacher knows"
FOR_A_STUDENT = IN_WORDS | {Outcome.CHECK_ERROR: NOT_YOURS, Outcome.INFRA: NOT_YOURS}


@dataclass(frozen=True)
class CheckPart:
    """A check on a student's page."""

    sign: str
    title: str
    says: list[str]
    reached: float | None
    full: float


@dataclass(frozen=True)
class HiddenPart:
    """The hidden checks of a task: `lost` are the titles of those that took points."""

    count: int
    reached: float | None
    full: float
    lost: list[str]


@dataclass(frozen=True)
class TaskPart:
    """A task on a student's page."""

    number: int
    title: str
    reached: float | None
    full: float
    cause: str
    """Why its cell did not come to its end; or that there was no answer."""
    notes: list[str]
    """What was left out or changed in it."""
    code: str
    output: str
    broken: list[str]
    checks: list[CheckPart]
    hidden: HiddenPart | None
    steps: list[Markup]
    """Of the hint, as HTML."""

    @property
    def is_short(self) -> bool:
        return self.reached is None or self.reached < self.full

    @property
    def points(self) -> str:
        return in_points(self.reached, self.full)

    @property
    def in_short(self) -> str:
        """What took points, for the list at the top."""
        if self.cause:
            return self.cause
        for check in self.checks:
            if check.says:
                return f"{check.title}: {check.says[0]}"
        return "; ".join(self.hidden.lost) if self.hidden else ""


def student_page(lab: Definition, record: AttemptRecord, evidence: Evidence | None) -> str:
    """What a student gets back."""
    is_run = record.outcome is not None and record.outcome not in REFUSED | {Outcome.INFRA}
    tasks = [_task(lab, record, evidence, number) for number in lab.tasks] if is_run else []
    return page(
        "student.html",
        lab=lab,
        record=record,
        says=_says(record),
        notes=[note for note in record.notes if not is_run or _task_of(note) not in lab.tasks],
        tasks=tasks,
        parameters=evidence.parameters if evidence and is_run else {},
    )


def _says(record: AttemptRecord) -> str:
    """What became of the hand-in as a whole, where more is to be said than its points."""
    if record.outcome is None or record.outcome is Outcome.INFRA:
        return "Your hand-in could not be run yet, which is no fault of yours. Points will follow."
    if record.outcome in REFUSED:
        words = IN_WORDS[record.outcome]
        said = f"{words[0].upper()}{words[1:]}{f': {record.why}' if record.why else ''}."
        return said if record.reached is not None else f"{said} Ask your teacher how it counts."
    if record.reached is None:
        return (
            "A check could not be made, which is no fault of yours. Your points are known when it "
            "is mended."
        )
    return f"The notebook ended early: {record.why}." if record.why else ""


def _task(
    lab: Definition, record: AttemptRecord, evidence: Evidence | None, number: int
) -> TaskPart:
    task = lab.tasks[number]
    mine = [check for check in record.checks if check["task"] == number]
    titles = {check["id"]: check["title"] for check in record.checks if not check["hidden"]}
    hidden = [check for check in mine if check["hidden"]]
    reached = summed(check["reached"] for check in mine)
    cell = evidence.cells.get(number) if evidence else None
    is_answered = evidence is None or number not in evidence.unanswered
    cause = _cause(evidence, number)
    is_short = reached is not None and reached < task.points
    # A hint would talk past the error that ended the cell.
    steps = hints.steps(lab.hints[number]) if is_short and not (cause and is_answered) else []
    return TaskPart(
        number,
        task.title,
        reached,
        task.points,
        cause,
        [_under_its_task(note) for note in record.notes if _task_of(note) == number],
        _cut(evidence.answers.get(number, ""), LONGEST_CODE) if evidence and is_answered else "",
        _cut(cell.output, LONGEST_OUTPUT) if cell and is_answered else "",
        [
            f"{at:.1f} s: {words}"
            for fault in (evidence.faults if evidence else [])
            if fault.task == number
            for at, words in fault.steps
        ],
        [
            CheckPart(
                sign(Outcome(check["outcome"])),
                check["title"],
                _check_says(check, titles),
                check["reached"],
                check["full"],
            )
            for check in mine
            if not check["hidden"]
        ],
        HiddenPart(
            len(hidden),
            summed(check["reached"] for check in hidden),
            summed(check["full"] for check in hidden) or 0,
            [check["title"] for check in hidden if check["outcome"] != Outcome.PASS],
        )
        if hidden
        else None,
        # What comes from Markdown is escaped there.
        [Markup(hints.as_html(step)) for step in steps],
    )


def _check_says(check: dict, titles: dict[str, str]) -> list[str]:
    outcome = Outcome(check["outcome"])
    if outcome is Outcome.NEEDS:
        return [not_run(titles.get(check["detail"], ""))]
    if outcome in OURS:
        return [NOT_YOURS]
    if outcome is Outcome.PASS or check["messages"]:
        return list(check["messages"])
    return [FOR_A_STUDENT[outcome]]


def _cause(evidence: Evidence | None, number: int) -> str:
    if evidence is None:
        return ""
    if number in evidence.unanswered:
        return "There is no answer."
    cell = evidence.cells.get(number)
    if cell is None or cell.state is Outcome.NOT_REACHED:
        return "Your cell did not run: the notebook had ended before it."
    if cell.state is Outcome.RAN:
        return ""
    if cell.state is Outcome.STUDENT_ERROR:
        return f"Your cell ended with {cell.error}"
    return f"Your cell {FOR_A_STUDENT[cell.state]}: {cell.error or 'it was ended there'}"


def _task_of(note: str) -> int | None:
    match = ABOUT_A_TASK.match(note)
    return int(match[1]) if match else None


def _under_its_task(note: str) -> str:
    """As it stands below the heading of its task, which names that already."""
    match = TASK_IN_FRONT.fullmatch(note)
    return f"{match['rest'][0].upper()}{match['rest'][1:]}" if match else note


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n… {len(text) - most} characters more …"
