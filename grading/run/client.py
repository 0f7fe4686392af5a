"""One cell at a time: its limit, its reply, its output, the death of its kernel.

nbclient's handling of messages stays; how a cell ended is told by its execute reply alone.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import run_sync
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient

from grading.handin.weave import CHECK_ID, task_number
from grading.judge.outcome import Outcome
from grading.judge.visible import CellState
from grading.lab import no_value
from grading.run import values
from grading.run.outputs import capped, joined, plain_output

if TYPE_CHECKING:
    from grading.run.engine import Run

GRACE = 3.0  # seconds for a cell to heed the interrupt, and for its last output to arrive
NONSENSE = (TypeError, KeyError, ValueError, AttributeError)
"""What jupyter_client raises over a message that is none."""
VALUE_TIMEOUT = 10.0
VALUES_TIMEOUT = 60.0
"""For all values of an attempt together; beyond it each gets a moment only."""


class GradingClient(PapermillNotebookClient):
    """nbclient's handling of messages, with cells, limits and deaths handled here."""

    def __init__(self, nb_man: Any, km: Any, asked: Run) -> None:
        super().__init__(nb_man, km=km, record_timing=False)
        self.kc = asked.kernel.client
        self.asked = asked
        self.bytes = 0
        self.is_flooded = False
        self.is_garbled = False
        asked.client = self

    def papermill_execute_cells(self) -> None:
        for index, cell in enumerate(self.nb.cells):
            if cell.cell_type != "code":
                continue
            if check := CHECK_ID.match(cell.id):
                self.asked.at_check(int(check[1]))
                continue
            self.nb_man.cell_start(cell, index)
            self._run_cell(cell, index)
            self.nb_man.cell_complete(cell, cell_index=index)

    def _run_cell(self, cell: NotebookNode, index: int) -> None:
        task = task_number(cell.id)
        self.asked.at_cell(task)
        if self.asked.is_alive and self.asked.spent >= self.asked.limits.run:
            self._stop_run()
        if self.asked.is_alive:
            with self.asked.beside(task):
                started = time.monotonic()
                state, error = run_sync(self._execute)(cell, index)
                seconds = round(time.monotonic() - started, 3)
            self.asked.spent += seconds
            cell.outputs = capped(joined(cell.outputs))
            result = CellState(state, plain_output(cell.outputs), error, seconds)
            if self.asked.kernel.exit_code is not None:
                self.asked.ended = result
        else:
            result = CellState(Outcome.NOT_REACHED)
        if task is not None:
            self.asked.cells[task] = result
        elif result.state is not Outcome.RAN:
            self.asked.trouble.append(f"{cell.source.strip().splitlines()[0][:80]}: {result.error}")

    def _stop_run(self) -> None:
        self.asked.kernel.kill()
        words = f"the whole notebook took longer than {self.asked.limits.run:g} s"
        self.asked.ended = CellState(Outcome.TIMEOUT, error=words)

    async def _execute(self, cell: NotebookNode, index: int) -> tuple[Outcome, str]:
        """Run a cell; its outcome, and the error in words."""
        cell.outputs = []
        self.clear_before_next_output = False
        limit = min(self.asked.limits.cell, self.asked.limits.run - self.asked.spent)
        message = self.kc.execute(cell.source, allow_stdin=False, stop_on_error=False)
        output = asyncio.ensure_future(self._async_poll_output_msg(message, cell, index))
        try:
            reply, is_late = await self._reply(message, limit)
            if reply is not None:
                await asyncio.wait({output}, timeout=GRACE)
        finally:
            output.cancel()
            await asyncio.gather(output, return_exceptions=True)
        return self._outcome(reply, is_late, limit)

    def _outcome(
        self, reply: dict[str, Any] | None, is_late: bool, limit: float
    ) -> tuple[Outcome, str]:
        if self.is_flooded:
            words = f"printed more than {self.asked.limits.output / 1e6:g} MB"
            return Outcome.OUTPUT_LIMIT, words
        if is_late:
            return Outcome.TIMEOUT, f"took longer than {limit:g} s"
        if self.is_garbled:
            return Outcome.KERNEL_DIED, "the kernel sent messages that make no sense"
        if reply is None and self.asked.kernel.exit_code == 0:
            return Outcome.STUDENT_EXIT, "the kernel ended itself with exit code 0"
        if reply is None:
            return Outcome.KERNEL_DIED, death(self.asked.kernel.exit_code)
        content = reply["content"]
        if any(part.get("source") == "ask_exit" for part in content.get("payload") or []):
            self.asked.kernel.kill()  # it is about to end anyway; now it always does so here
            return Outcome.STUDENT_EXIT, "exit() ended the kernel"
        if content.get("status") == "ok":
            return Outcome.RAN, ""
        name = str(content.get("ename", content.get("status")))
        words = f"{name}: {str(content.get('evalue', ''))[:300]}"
        if name == "StdinNotImplementedError":
            words = "input() cannot work here: nobody is there to type"
        kinds = {"SystemExit": Outcome.STUDENT_EXIT, "MemoryError": Outcome.OUT_OF_MEMORY}
        return kinds.get(name, Outcome.STUDENT_ERROR), words

    async def _reply(self, message: str, limit: float) -> tuple[dict[str, Any] | None, bool]:
        """The reply to a request, and whether it had to be interrupted.

        None: the kernel is gone, either by itself or because it did not heed the interrupt.
        """
        reply = asyncio.ensure_future(self._next_reply(message))
        death_of_kernel = asyncio.ensure_future(self._death())
        both = {reply, death_of_kernel}
        is_late = False
        try:
            done, _ = await asyncio.wait(both, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                is_late = True
                await self.km.interrupt_kernel()
                done, _ = await asyncio.wait(
                    both, timeout=GRACE, return_when=asyncio.FIRST_COMPLETED
                )
            if not done:
                self.asked.kernel.kill()
            return (reply.result() if reply in done else None), is_late
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    async def _next_reply(self, message: str) -> dict[str, Any]:
        while True:
            try:
                reply = await self.kc.shell_channel.get_msg(timeout=None)
            except NONSENSE:
                # a student's code broke what writes them; nothing can be asked of it any more
                self.is_garbled = True
                self.asked.kernel.kill()
                continue
            if reply["parent_header"].get("msg_id") == message:
                return reply

    async def _death(self) -> None:
        while self.asked.kernel.exit_code is None:
            await asyncio.sleep(0.05)

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
            if self.bytes > self.asked.limits.output:
                self.is_flooded = True
                self.asked.kernel.kill()
            elif message["parent_header"].get("msg_id") == parent_msg_id:
                try:
                    self.process_message(message, cell, cell_index)
                except CellExecutionComplete:
                    return
                except Exception as error:  # it makes no sense, so a student's code wrote it
                    self.log.warning(f"dropped a message of cell {cell_index}: {error!r}")

    def value(self, expression: str) -> Any:
        """Ask the kernel for a value; see grading/values.py."""
        asked = {"value": values.code(expression)}
        message = self.kc.execute("", silent=True, allow_stdin=False, user_expressions=asked)
        left = max(VALUES_TIMEOUT - self.asked.spent_on_values, 0.5)
        limit = min(VALUE_TIMEOUT, left)
        reply, is_late = run_sync(self._reply)(message, limit)
        if reply is None or is_late:
            if reply is None:
                self.asked.ended = CellState(Outcome.TIMEOUT if is_late else Outcome.KERNEL_DIED)
            raise no_value(expression, "TimeoutError", f"not there within {limit:g} s")
        found = reply["content"].get("user_expressions", {}).get("value", {})
        return values.decoded(expression, found)


def death(exit_code: int | None) -> str:
    """Why a kernel is gone, as far as can be seen from outside."""
    if exit_code is not None and exit_code < 0:
        memory = " (often: no memory left)" if exit_code == -9 else ""
        return f"the kernel was ended by signal {-exit_code}{memory}"
    return f"the kernel ended itself with exit code {exit_code}"
