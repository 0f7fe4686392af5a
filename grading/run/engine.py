"""The papermill engine of the grader.

papermill gives the registry, the bookkeeping of cells and the notebook with outputs. How a cell
ended is told by its execute reply alone: papermill's own `status` calls cells completed that never
ran. The engine goes on after an error of the student, keeps a limit for every cell, and kills a
kernel that floods it with output.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from papermill.execute import execute_notebook

from grading.define.definition import Limits
from grading.judge.visible import CellState
from grading.lab import no_value
from grading.run.client import GradingClient
from grading.run.kernel import Kernel

NAME = "grading"


@dataclass
class Run:
    """A run of one notebook: what is asked of the engine, and what it found."""

    kernel: Kernel
    limits: Limits
    at_check: Callable[[int], None] = lambda task: None
    """Called at the check cell of each task, in its place."""
    at_cell: Callable[[int | None], None] = lambda task: None
    beside: Callable[[int | None], AbstractContextManager[None]] = lambda task: nullcontext()
    """Entered around the run of a cell: what is to happen beside it."""
    cells: dict[int, CellState] = field(default_factory=dict)
    """How the cell of each task ended."""
    trouble: list[str] = field(default_factory=list)
    """Cells of the master that did not run: names, for the teacher."""
    ended: CellState | None = None
    """The state in which the kernel was lost."""
    spent: float = 0.0
    """Seconds that cells took; checks do not count against the limit of the run."""
    spent_on_values: float = 0.0
    """Seconds that the notebook took to give values to checks."""
    client: GradingClient | None = None

    @property
    def is_alive(self) -> bool:
        return self.ended is None

    def value(self, expression: str) -> Any:
        """The value of an expression in the kernel; see Doors.value."""
        if self.client is None or not self.is_alive:
            raise no_value(expression, "NoKernel", "the kernel had ended")
        started = time.monotonic()
        try:
            return self.client.value(expression)
        finally:
            self.spent_on_values += time.monotonic() - started


def run(notebook: NotebookNode, asked: Run) -> NotebookNode:
    """Run a woven notebook; returns it with its outputs. The kernel stays up."""
    cells = list(notebook.cells)
    # papermill raises at the end where any cell shows an error; the states say all of it
    with contextlib.suppress(PapermillExecutionError):
        execute_notebook(
            notebook,
            None,
            engine_name=NAME,
            kernel_name="python3",
            progress_bar=False,
            request_save_on_cell_execute=False,
            autosave_cell_every=0,
            asked=asked,
        )
    for cell in cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("papermill", None)
    notebook.cells = cells  # without the banners that papermill puts between them
    return notebook


class GradingEngine(NBClientEngine):
    """Runs the cells of a notebook in a kernel that is there already."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **kwargs: Any) -> None:
        asked: Run = kwargs["asked"]
        client = GradingClient(nb_man, km=asked.kernel.manager, asked=asked)
        client.papermill_execute_cells()


papermill_engines.register(NAME, GradingEngine)
