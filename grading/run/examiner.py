"""Runs the checks of a lab in their places beside the notebook, and keeps what they found."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any

from nbformat import NotebookNode

from grading.define.definition import Definition
from grading.faults.injection import Breaking
from grading.judge import checks
from grading.judge.checks import Check, Result
from grading.judge.outcome import Outcome
from grading.judge.visible import CellState, Visible
from grading.practice.hints import causes
from grading.practice.show import Assessment
from grading.run.graded_notebook import GradedNotebook
from grading.run.outputs import shown

NOTHING_DONE = 0.1  # patience of the checks of a task that has no answer


class Examiner:
    """Told by the engine where the run is. `say(event, **content)` tells it to the parent."""

    def __init__(
        self,
        say: Callable[..., None],
        lab: Definition,
        notebook: GradedNotebook,
        x: Visible,
        hidden: Sequence[Check],
        unanswered: Collection[int],
        breaking: Breaking,
    ) -> None:
        self.results: list[Result] = []
        self.snapshots: dict[str, Any] = {}
        """What the checks looked at in each place, in short."""
        self.spent = 0.0
        """Seconds that checks took."""
        self._say = say
        self._notebook = notebook
        self._x = x
        self._lab = lab
        self._checks = (*lab.checks, *hidden)
        self._unanswered = unanswered
        self._breaking = breaking

    def at_cell(self, task: int | None) -> None:
        """A cell begins; None: of no task."""
        self._say("cell", task=task)

    def beside(self, task: int | None) -> AbstractContextManager[None]:
        """Around the run of a cell: what breaks meanwhile."""
        return self._breaking.beside(task)

    def at_check(self, task: int) -> list[NotebookNode]:
        """At the check cell of a task, before later cells can change what it left.

        Returns what the cell would show a learner.
        """
        self._look(f"task {task}", [c for c in self._checks if c.task == task and c.at == "after"])
        why = causes(self._notebook.cells, set(self._unanswered))
        return [shown(Assessment.of(self._lab, self.results, {task}, why))]

    def at_end(self) -> None:
        """After the last cell."""
        self._look("end", [check for check in self._checks if check.at == "end"])

    def _look(self, place: str, due: list[Check]) -> None:
        began = time.monotonic()
        self._x.look_afresh()
        found = [self._result(check) for check in due]
        if (seen := self._x.seen) is not None:
            self.snapshots[place] = seen
        self.spent += time.monotonic() - began
        cells = {number: asdict(cell) for number, cell in self._notebook.cells.items()}
        self._say("checks", results=[asdict(result) for result in found], cells=cells)

    def _result(self, check: Check) -> Result:
        cell: CellState | None = self._notebook.cells.get(check.task)
        if cell is None or cell.state is Outcome.NOT_REACHED:
            result = Result(check.id, Outcome.NOT_REACHED)
        else:
            self._x.patience = NOTHING_DONE if check.task in self._unanswered else 1.0
            earlier = {result.check: result for result in self.results}
            result = self._breaking.without_its_fault(check) or checks.run_in_order(
                check, self._x, earlier
            )
        self.results.append(result)
        return result
