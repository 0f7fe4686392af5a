"""One cell at a time: its limit, its reply, its output, the death of its kernel.

nbclient's handling of messages stays; how a cell ended is told by its execute reply alone.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager
from typing import Any, Protocol

from jupyter_core.utils import run_sync
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode
from nbformat.v4 import new_output

from grading.handin.weave import ROLE
from grading.judge.outcome import Outcome
from grading.judge.visible import CellState
from grading.run import packages
from grading.run.graded_notebook import GradedNotebook
from grading.run.outputs import capped, joined, plain_output
from grading.run.papermill import PapermillNotebookClient
from grading.run.replies import GRACE, NONSENSE

DISK_IS_FULL = ("[Errno 28]", "[Errno 27]")  # no space left, and a file that is too large
SHOWN_LIMIT = 120.0  # seconds for a cell that shows something, where a proof runs all of them


class Onlooker(Protocol):
    """Who stands beside the run and is told where it is."""

    def at_cell(self, task: int | None) -> None:
        """A cell begins; None: of no task."""

    def at_check(self, task: int) -> list[NotebookNode]:
        """The run is at the check cell of a task. Returns what that cell shows."""

    def beside(self, task: int | None) -> AbstractContextManager[None]:
        """Entered around the run of a cell."""


class GradingClient(PapermillNotebookClient):
    """nbclient's handling of messages, with cells, limits and deaths handled here."""

    def __init__(
        self,
        nb_man: Any,
        graded: GradedNotebook,
        onlooker: Onlooker,
        last: int | None,
        shows_all: bool,
    ) -> None:
        super().__init__(nb_man, km=graded.kernel.manager, record_timing=False)
        self.kc = graded.kernel.client
        self.graded = graded
        self.onlooker = onlooker
        self.last_task = last
        self.shows_all = shows_all
        self.bytes = 0
        self.is_flooded = False

    def papermill_execute_cells(self) -> None:
        for index, cell in enumerate(self.nb.cells):
            if cell.cell_type != "code":
                continue
            if cell.metadata[ROLE]["kind"] == "check":
                task = cell.metadata[ROLE]["task"]
                cell.outputs = self.onlooker.at_check(task)
                if task == self.last_task:
                    return
                continue
            self.nb_man.cell_start(cell, index)
            self._run_cell(cell, index)
            self.nb_man.cell_complete(cell, cell_index=index)

    def _run_cell(self, cell: NotebookNode, index: int) -> None:
        graded, role = self.graded, cell.metadata[ROLE]
        kind, task = role["kind"], role["task"]
        self.onlooker.at_cell(task if kind == "own" else None)
        if graded.is_alive and graded.spent >= graded.limits.run:
            self._stop_run()
        if graded.is_alive:
            is_free = kind == "shown" and self.shows_all
            limit = min(graded.limits.cell, graded.limits.run - graded.spent)
            with self.onlooker.beside(task if role["is_answer"] else None):
                started = time.monotonic()
                state, error = run_sync(self._execute)(
                    cell, index, SHOWN_LIMIT * graded.times if is_free else limit
                )
                seconds = round(time.monotonic() - started, 3)
            if not is_free:
                graded.spent += seconds
            cell.outputs = capped(joined(cell.outputs))
            self._tell_what_pip_missed(cell, task)
            result = CellState(state, plain_output(cell.outputs), error, seconds)
            if graded.kernel.exit_code is not None:
                graded.ended = result
        else:
            result = CellState(Outcome.NOT_REACHED)
        if kind == "own":
            graded.add_own(task, result)
        elif result.state is not Outcome.RAN:
            graded.add_trouble(cell.source, result, kind, task)

    def _tell_what_pip_missed(self, cell: NotebookNode, task: int | None) -> None:
        for sentence in packages.missed(plain_output(cell.outputs)):
            cell.outputs.append(new_output("stream", name="stderr", text=f"{sentence}\n"))
            self.graded.missed.append(f"Task {task}: {sentence}" if task else sentence)

    def _stop_run(self) -> None:
        self.graded.kernel.kill()
        words = f"the whole notebook took longer than {self.graded.limits.run:g} s"
        self.graded.ended = CellState(Outcome.TIMEOUT, error=words)

    async def _execute(self, cell: NotebookNode, index: int, limit: float) -> tuple[Outcome, str]:
        """Run a cell; its outcome, and the error in words."""
        cell.outputs = []
        self.clear_before_next_output = False
        message = self.kc.execute(cell.source, allow_stdin=False, stop_on_error=False)
        output = asyncio.ensure_future(self._async_poll_output_msg(message, cell, index))
        try:
            reply, is_late = await self.graded.replies.to(message, limit)
            if reply is not None:
                await asyncio.wait({output}, timeout=GRACE)
        finally:
            output.cancel()
            await asyncio.gather(output, return_exceptions=True)
        return self._outcome(reply, is_late, limit)

    def _outcome(
        self, reply: dict[str, Any] | None, is_late: bool, limit: float
    ) -> tuple[Outcome, str]:
        kernel = self.graded.kernel
        if kernel.stopped is not None:
            return kernel.stopped
        if self.is_flooded:
            words = f"printed more than {self.graded.limits.output / 1e6:g} MB"
            return Outcome.OUTPUT_LIMIT, words
        if is_late:
            return Outcome.TIMEOUT, f"took longer than {limit:g} s"
        if self.graded.replies.is_garbled:
            return Outcome.KERNEL_DIED, "the kernel sent messages that make no sense"
        if reply is None and kernel.exit_code == 0:
            return Outcome.STUDENT_EXIT, "the kernel ended itself with exit code 0"
        if reply is None:
            return Outcome.KERNEL_DIED, death(kernel.exit_code)
        content = reply["content"]
        if any(part.get("source") == "ask_exit" for part in content.get("payload") or []):
            kernel.kill()  # it is about to end anyway; now it always does so here
            return Outcome.STUDENT_EXIT, "exit() ended the kernel"
        if content.get("status") == "ok":
            return Outcome.RAN, ""
        name = str(content.get("ename", content.get("status")))
        words = f"{name}: {str(content.get('evalue', ''))[:300]}"
        if name == "StdinNotImplementedError":
            words = "input() cannot work here: nobody is there to type"
        return kind_of_error(name, str(content.get("evalue", ""))), words

    async def _async_poll_output_msg(
        self, parent_msg_id: str, cell: NotebookNode, cell_index: int
    ) -> None:
        """Take messages until the cell is done. All are counted, also those of other cells.

        Only killing the kernel ends a flood: what is not read piles up in this process.
        """
        while not self.is_flooded:
            try:
                message = await self.kc.iopub_channel.get_msg(timeout=None)
            except NONSENSE:
                continue
            self.bytes += sum(map(len, message.get("buffers", []))) + len(str(message["content"]))
            if self.bytes > self.graded.limits.output:
                self.is_flooded = True
                self.graded.kernel.kill()
            elif message["parent_header"].get("msg_id") == parent_msg_id:
                try:
                    self.process_message(message, cell, cell_index)
                except CellExecutionComplete:
                    return
                except Exception as error:  # it makes no sense, so a student's code wrote it
                    self.log.warning(f"dropped a message of cell {cell_index}: {error!r}")


def kind_of_error(name: str, value: str) -> Outcome:
    """Whether what a cell raised says that it met a limit."""
    if name in ("SystemExit", "MemoryError"):
        return Outcome.STUDENT_EXIT if name == "SystemExit" else Outcome.OUT_OF_MEMORY
    if value.startswith(DISK_IS_FULL):
        return Outcome.DISK_LIMIT
    if name == "BlockingIOError" or value == "can't start new thread":
        return Outcome.PROCESS_LIMIT
    return Outcome.STUDENT_ERROR


def death(exit_code: int | None) -> str:
    """Why a kernel is gone, as far as can be seen from outside."""
    if exit_code is not None and exit_code < 0:
        memory = " (often: no memory left)" if exit_code == -9 else ""
        return f"the kernel was ended by signal {-exit_code}{memory}"
    return f"the kernel ended itself with exit code {exit_code}"
