"""The papermill engine of the grader.

papermill gives the registry, the bookkeeping of cells and the notebook with outputs. How a cell
ended is told by its execute reply alone: papermill's own `status` calls cells completed that never
ran. The engine goes on after an error of the student, keeps a limit for every cell, and kills a
kernel that floods it with output.
"""

from __future__ import annotations

import contextlib
from typing import Any

from nbformat import NotebookNode

from grading.run.client import GradingClient, Onlooker
from grading.run.graded_notebook import GradedNotebook
from grading.run.papermill import (
    NBClientEngine,
    PapermillExecutionError,
    execute_notebook,
    papermill_engines,
)

NAME = "grading"


def run(
    notebook: NotebookNode,
    graded: GradedNotebook,
    onlooker: Onlooker,
    last: int | None = None,
    shows_all: bool = False,
) -> NotebookNode:
    """Run a woven notebook; returns it with its outputs. The kernel stays up.

    last: the task after whose checks the run ends; SetUpFailed where it does not come so far.
    shows_all: cells that only show something have a limit of their own.
    """
    ran: list[NotebookNode] = []
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
            graded=graded,
            onlooker=onlooker,
            last=last,
            shows_all=shows_all,
            ran=ran,
        )
    for cell in ran:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
    return NotebookNode({**notebook, "cells": ran})


class GradingEngine(NBClientEngine):
    """Runs the cells of a notebook in a kernel that is there already."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **kwargs: Any) -> None:
        # papermill runs a copy, and puts banners between the cells of those with errors
        kwargs["ran"].extend(nb_man.nb.cells)
        told = (kwargs[name] for name in ("graded", "onlooker", "last", "shows_all"))
        client = GradingClient(nb_man, *told)
        client.papermill_execute_cells()


papermill_engines.register(NAME, GradingEngine)
