"""A reader who does not go from top to bottom: what else a lesson has to bear, in one run of it.

Papermill runs a notebook through an engine; this one puts two things around the usual run, if it is
asked to. Before it, all cells from the last to the first, in a kernel that is then restarted: a
cell whose names are not there yet may say so, and nothing else. And each cell a second time after
the first. What is kept of the run are the outputs of the usual one.
"""

from __future__ import annotations

import copy
from typing import Any

from jupyter_core.utils import run_sync
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from traitlets import Bool

from authoring.percent import PROOF

ENGINE = "untidy"


class UntidyReader(PapermillNotebookClient):
    """Runs what a lesson says, and before and between what a reader may do instead."""

    backwards = Bool(False, help="Before the usual run, from the last cell to the first.")
    kc: Any  # nbclient gives it no type
    twice = Bool(False, help="Run each cell of the page twice in a row.")

    def papermill_execute_cells(self) -> None:
        if self.backwards:
            self._from_the_end()
            run_sync(self.km.restart_kernel)(now=True)
            self.kc.stop_channels()
            self.kc = None
            self.start_new_kernel_client()
        super().papermill_execute_cells()

    def execute_cell(self, cell: NotebookNode, cell_index: int, **settings: Any) -> NotebookNode:
        """As usual; on a page that is read twice, then once more with the outputs dropped."""
        executed = super().execute_cell(cell, cell_index, **settings)
        if self.twice and cell.cell_type == "code" and not is_proof(cell):
            again = copy.deepcopy(cell)
            try:
                super().execute_cell(again, cell_index, **settings)
            except CellExecutionError:
                cell.outputs = again.outputs  # what the failure is told from
                raise
            self.nb.cells[cell_index] = executed  # nbclient put the copy there
        return executed

    def _from_the_end(self) -> None:
        for index, cell in reversed(list(enumerate(self.nb.cells))):
            if cell.cell_type != "code" or is_proof(cell):
                continue
            try:
                super().execute_cell(copy.deepcopy(cell), index)
            except CellExecutionError as error:
                if error.ename != "NameError" and "Traceback" in error.traceback:
                    raise Unkind(index, f"{error.ename}: {error.evalue}") from None
            self.nb.cells[index] = cell  # nbclient put the copy there


class Unkind(Exception):
    """A cell that was run before those that it needs answered with a traceback."""

    def __init__(self, cell: int, said: str) -> None:
        self.cell = cell
        super().__init__(f"run before what it needs, it shows a traceback: {said}")


def is_proof(cell: NotebookNode) -> bool:
    """Whether the cell stands beside the page and no reader ever sees it."""
    return PROOF in cell.metadata.get("tags", [])


class UntidyEngine(NBClientEngine):
    """Papermill's usual engine with this reader in the place of its own."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: Any,
        kernel_name: str,
        start_timeout: int = 60,
        execution_timeout: int | None = None,
        log_output: bool = False,
        stdout_file: Any = None,
        stderr_file: Any = None,
        input_path: str = "",
        **settings: Any,
    ) -> NotebookNode:
        reader = UntidyReader(
            nb_man,
            kernel_name=kernel_name,
            startup_timeout=start_timeout,
            timeout=execution_timeout,
            **settings,
        )
        return reader.execute()


papermill_engines.register(ENGINE, UntidyEngine)
