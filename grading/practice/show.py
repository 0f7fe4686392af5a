"""Results as a learner sees them: a table in the notebook, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

from grading.define.definition import Definition
from grading.judge import score
from grading.judge.checks import Check, Result
from grading.judge.outcome import IN_WORDS, OURS, Outcome
from grading.practice import hints

SIGNS = {Outcome.PASS: "✓", Outcome.PART: "◐"}


@dataclass(frozen=True)
class CheckLine:
    """One check with what came out of it. `first`: the title of the check that it needs."""

    check: Check
    result: Result
    points: score.Points
    first: str = ""

    @property
    def sign(self) -> str:
        return sign(self.result.outcome)

    def says(self) -> list[str]:
        """What was not as expected, in sentences."""
        if self.result.outcome is Outcome.NEEDS:
            return [not_run(self.first)]
        if self.result.outcome in OURS:
            return [f"{IN_WORDS[self.result.outcome]}; please tell your teacher"]
        return self.result.messages or (
            [] if self.result.outcome is Outcome.PASS else [IN_WORDS[self.result.outcome]]
        )


@dataclass(frozen=True)
class NextStep:
    """What to do next: a step of the hint of a task, or what has to be mended before one helps."""

    task: int
    text: str
    """Markdown."""
    number: int = 0
    """Which step of the hint it is, from 1; 0 where it is none."""
    of: int = 0

    def __str__(self) -> str:
        return f"{self.heading}: {self.text}"

    @property
    def heading(self) -> str:
        if not self.number:
            return f"Task {self.task}, first"
        return f"Hint for task {self.task}" + (
            f", {self.number} of {self.of}" if self.of > 1 else ""
        )

    @property
    def html(self) -> str:
        return f"<p><b>{escape(self.heading)}</b></p>{hints.as_html(self.text)}"


@dataclass(frozen=True)
class Assessment:
    """The checks of one task or of all, the sum, and one next step."""

    title: str
    lines: tuple[CheckLine, ...]
    points: score.Points
    hidden: str
    causes: Mapping[int, str]
    """Task -> the error with which its cell was left."""
    next: tuple[NextStep, ...]
    """The steps of one hint up to the one that is due; none where all is passed."""

    @classmethod
    def of(
        cls,
        lab: Definition,
        results: Iterable[Result],
        tasks: set[int],
        causes: Mapping[int, str] | None = None,
        steps: int = 1,
    ) -> Assessment:
        """causes: the errors of cells by task; steps: how much of a hint is told."""
        found = {result.check: result for result in results}
        public = [check for check in lab.checks if check.task in tasks and check.id in found]
        titles = {check.id: check.title for check in lab.checks}
        lines = tuple(
            CheckLine(
                check,
                found[check.id],
                score.of_check(check, found[check.id]),
                titles.get(check.needs or "", ""),
            )
            for check in public
        )
        title = lab.title
        if len(tasks) == 1:
            task = lab.tasks[min(tasks)]
            title = f"Task {task.number}: {task.title}"
        causes = {number: text for number, text in (causes or {}).items() if number in tasks}
        return cls(
            title,
            lines,
            score.total(public, found),
            hidden_ones(lab, tasks),
            causes,
            next_steps(lab, lines, causes, steps),
        )

    def as_lines(self) -> list[str]:
        """A line for each check, the cause before what it caused; with numbers of tasks, where
        there are several."""
        text = []
        told = set()
        are_many = len({line.check.task for line in self.lines}) > 1
        for line in self.lines:
            number = line.check.task
            if number in self.causes and number not in told:
                text.append(f"✗ {_ended(number, self.causes[number])}")
            told.add(number)
            mark = f"{line.sign} {number}" if are_many else line.sign
            text.append(f"{mark} {line.check.title} ({line.points})")
            text += [f"    {message}" for message in line.says()]
        return [*text, f"{self.points} points{self.hidden}"]

    def __repr__(self) -> str:
        text = [self.title, *(f"  {line}" for line in self.as_lines())]
        return "\n".join([*text, *(f"  {step}" for step in self.next)])

    def _repr_html_(self) -> str:
        are_many = len({line.check.task for line in self.lines}) > 1
        number = "<th>Task</th>" if are_many else ""
        causes = "".join(
            f"<p>{escape(_ended(number, text))}</p>" for number, text in self.causes.items()
        )
        rows = "".join(
            f"<tr><td>{line.sign}</td>"
            + (f"<td>{line.check.task}</td>" if are_many else "")
            + f"<td style='text-align:left'>{escape(line.check.title)}"
            + "".join(f"<br><small>{escape(message)}</small>" for message in line.says())
            + f"</td><td>{escape(str(line.points))}</td></tr>"
            for line in self.lines
        )
        return (
            f"<b>{escape(self.title)}</b>{causes}"
            f"<table><tr><th></th>{number}<th>Check</th><th>Points</th></tr>{rows}</table>"
            f"<p>{escape(str(self.points))} points{escape(self.hidden)}</p>"
            + "".join(step.html for step in self.next)
        )


def sign(outcome: Outcome) -> str:
    """One letter for what became of a check."""
    return "!" if outcome in OURS else SIGNS.get(outcome, "✗")


def not_run(first: str) -> str:
    """What is said of a check that another one stands in the way of; first: the title of that."""
    return f"not run: “{first}” comes first" if first else IN_WORDS[Outcome.NEEDS]


def hidden_ones(lab: Definition, tasks: Iterable[int]) -> str:
    """How many checks come on top in grading, and what they are worth."""
    chosen = [lab.tasks[number] for number in tasks]
    count = sum(task.hidden for task in chosen)
    if not count:
        return ""
    public = sum(check.points for check in lab.checks if check.task in set(tasks))
    worth = sum(task.points for task in chosen) - public
    return (
        f"; {count} hidden check{'s' * (count > 1)} worth {worth:g} more "
        f"run{'s' * (count == 1)} when it is graded"
    )


def next_steps(
    lab: Definition, lines: Iterable[CheckLine], causes: Mapping[int, str], told: int
) -> tuple[NextStep, ...]:
    """For the first task with a check that is not passed: so much of its hint. Where its cell was
    left with an error, that comes first, and no hint."""
    for line in lines:
        if line.result.outcome in OURS | {Outcome.PASS}:
            continue
        task = line.check.task
        if task in causes:
            text = "the cell was left with an error, and the checks saw what was there before it."
            return (
                NextStep(task, f"{text} Mend that error, and run the cell and the check again."),
            )
        steps = hints.steps(lab.hints[task])
        return tuple(
            NextStep(task, text, number, len(steps))
            for number, text in enumerate(steps[: max(told, 1)], start=1)
        )
    return ()


def _ended(task: int, error: str) -> str:
    return f"The cell of task {task} ended with {error}"
