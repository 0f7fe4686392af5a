"""Results as a learner sees them: a table in the notebook, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from grading.define.definition import Definition
from grading.judge import score
from grading.judge.checks import Check, Result
from grading.judge.outcome import IN_WORDS, OURS, Outcome

SIGNS = {Outcome.PASS: "✓", Outcome.PART: "◐"}


@dataclass(frozen=True)
class CheckLine:
    """One check with what came out of it."""

    check: Check
    result: Result
    points: score.Points

    @property
    def sign(self) -> str:
        return "!" if self.result.outcome in OURS else SIGNS.get(self.result.outcome, "✗")

    def says(self) -> list[str]:
        """What was not as expected, in sentences."""
        if self.result.outcome is Outcome.NEEDS:
            return [f"not run: {self.result.detail} comes first"]
        if self.result.outcome in OURS:
            return [f"{IN_WORDS[self.result.outcome]}; please tell your teacher"]
        return self.result.messages or (
            [] if self.result.outcome is Outcome.PASS else [IN_WORDS[self.result.outcome]]
        )


@dataclass(frozen=True)
class Assessment:
    """The checks of one task or of all, the sum, and one next step."""

    title: str
    lines: tuple[CheckLine, ...]
    points: score.Points
    hidden: str
    hint: str

    @classmethod
    def of(cls, lab: Definition, results: Iterable[Result], tasks: set[int]) -> Assessment:
        found = {result.check: result for result in results}
        public = [check for check in lab.checks if check.task in tasks and check.id in found]
        lines = tuple(
            CheckLine(check, found[check.id], score.of_check(check, found[check.id]))
            for check in public
        )
        title = lab.title
        if len(tasks) == 1:
            task = lab.tasks[min(tasks)]
            title = f"Task {task.number}: {task.title}"
        return cls(
            title, lines, score.total(public, found), hidden_ones(lab, tasks), hint(lab, lines)
        )

    def __repr__(self) -> str:
        text = [self.title]
        for line in self.lines:
            text.append(f"  {line.sign} {line.check.title} ({line.points})")
            text += [f"      {message}" for message in line.says()]
        text += [f"  {self.points} points{self.hidden}"]
        return "\n".join([*text, *([f"  Hint: {self.hint}"] if self.hint else [])])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{line.sign}</td><td style='text-align:left'>{escape(line.check.title)}"
            + "".join(f"<br><small>{escape(message)}</small>" for message in line.says())
            + f"</td><td>{escape(str(line.points))}</td></tr>"
            for line in self.lines
        )
        hint = f"<p><b>Hint:</b> {escape(self.hint)}</p>" if self.hint else ""
        return (
            f"<b>{escape(self.title)}</b><table><tr><th></th><th>Check</th><th>Points</th></tr>"
            f"{rows}</table><p>{escape(str(self.points))} points{escape(self.hidden)}</p>{hint}"
        )


def hidden_ones(lab: Definition, tasks: Iterable[int]) -> str:
    """How many checks come on top in grading, and what they are worth."""
    chosen = [lab.tasks[number] for number in tasks]
    count = sum(task.hidden for task in chosen)
    if not count:
        return ""
    public = sum(check.points for check in lab.checks if check.task in set(tasks))
    worth = sum(task.points for task in chosen) - public
    return f"; {count} hidden check{'s' * (count > 1)} worth {worth:g} more run when it is graded"


def hint(lab: Definition, lines: Iterable[CheckLine]) -> str:
    """The hint of the first task with a check that is not passed."""
    for line in lines:
        if line.result.outcome not in OURS | {Outcome.PASS}:
            return lab.hints[line.check.task]
    return ""
