"""The notebook that is graded, as its checks see it: how its cells ended, and its values."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from jupyter_core.utils import run_sync

from grading.define.definition import Limits
from grading.faults.fault import Injected, kept_of
from grading.judge.outcome import Outcome
from grading.judge.visible import CellState
from grading.lab import no_value
from grading.run import pace, values
from grading.run.kernel import StudentKernel
from grading.run.replies import Replies

VALUE_TIMEOUT = 10.0
VALUES_TIMEOUT = 60.0
"""For all values of an attempt together; beyond it each gets a moment only. Both are meant for a
quiet machine."""
WORSE = (
    *(Outcome.RAN, Outcome.NOT_REACHED, Outcome.STUDENT_ERROR, Outcome.STUDENT_EXIT),
    *(Outcome.OUTPUT_LIMIT, Outcome.DISK_LIMIT, Outcome.PROCESS_LIMIT, Outcome.TIMEOUT),
    *(Outcome.OUT_OF_MEMORY, Outcome.KERNEL_DIED),
)
"""The states of a cell, the worst last."""


class SetUpFailed(Exception):
    """A cell of the master failed before any of the student's ran. Not the student's fault."""


def together(one: CellState, other: CellState) -> CellState:
    """Two cells of one task, in their order. Where the second did not run the first still did."""
    worse = max(one, other, key=lambda cell: WORSE.index(cell.state))
    return CellState(
        worse.state,
        "\n".join(cell.output for cell in (one, other) if cell.output),
        worse.error,
        round(one.seconds + other.seconds, 3),
    )


def limit_of_value(spent: float, times: float) -> float:
    """Seconds for the next value. A machine that is busy must not cost a student anything."""
    return min(VALUE_TIMEOUT * times, max(VALUES_TIMEOUT * times - spent, 0.5))


class GradedNotebook:
    """A notebook that runs in a kernel of the grader's, and what became of it so far."""

    def __init__(self, kernel: StudentKernel, limits: Limits, times: float = 1.0) -> None:
        self.kernel = kernel
        self.limits = pace.longer(limits, times)
        self.times = times
        """How many times longer than on a quiet machine something may take."""
        self.replies = Replies(kernel)
        self.cells: dict[int, CellState] = {}
        """How the cells of each task ended: as the worst of them."""
        self.trouble: list[str] = []
        """Cells of the master that did not run as they should, in words for the teacher."""
        self.costs: dict[int, list[str]] = {}
        """The same in words for the student, by the task whose check comes next."""
        self.missed: list[str] = []
        """Packages that pip did not find, in words for the student."""
        self.has_begun = False
        """Whether a cell of the student's has run."""
        self.ended: CellState | None = None
        """The state in which the kernel was lost."""
        self.injected: Mapping[int, Injected] = {}
        """What became of the faults so far, by their task."""
        self.spent = 0.0
        """Seconds that cells took; checks do not count against the limit of the run."""
        self.spent_on_values = 0.0
        """Seconds that the notebook took to give values to checks."""

    @property
    def is_alive(self) -> bool:
        return self.ended is None

    def add_own(self, task: int | None, result: CellState) -> None:
        """A cell of the student's is over; several of one task count as one."""
        self.has_begun = True
        if task is None:
            return
        former = self.cells.get(task)
        self.cells[task] = result if former is None else together(former, result)

    def add_trouble(self, text: str, result: CellState, kind: str, task: int | None) -> None:
        """A cell of the course did not run as it should; `task` comes next."""
        first = text.strip().splitlines()[0][:80]
        self.trouble.append(f"{first}: {result.error}")
        if task is not None and result.error:
            self.costs.setdefault(task, []).append(
                f"Task {task}: the course's own cell “{first}” failed: {result.error}"
            )
        if not self.has_begun and kind != "shown":
            raise SetUpFailed(self.trouble[0])

    def value(self, expression: str) -> Any:
        """The value of an expression in the kernel; see Visible.value."""
        if not self.is_alive:
            raise no_value(expression, "NoKernel", "the kernel had ended")
        started = time.monotonic()
        try:
            return self._asked(expression)
        finally:
            self.spent_on_values += time.monotonic() - started

    def kept(self, task: int) -> dict[str, Any]:
        """See Visible.kept."""
        return kept_of(self.injected, task)

    def _asked(self, expression: str) -> Any:
        wanted = {"value": values.code(expression)}
        message = self.kernel.client.execute(
            "", silent=True, allow_stdin=False, user_expressions=wanted
        )
        limit = limit_of_value(self.spent_on_values, pace.now())
        reply, is_late = run_sync(self.replies.to)(message, limit)
        if reply is None or is_late:
            if reply is None:
                outcome = Outcome.TIMEOUT if is_late else Outcome.KERNEL_DIED
                outcome, words = self.kernel.stopped or (outcome, "")
                self.ended = CellState(outcome, error=words)
            raise no_value(expression, "TimeoutError", f"not there within {limit:g} s")
        found = reply["content"].get("user_expressions", {}).get("value", {})
        return values.decoded(expression, found)
