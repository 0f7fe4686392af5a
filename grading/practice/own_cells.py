"""How the cells of tasks ended in the learner's own notebook, as far as it was watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grading.define.marks import TASK_LINE

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

AFTER_A_CELL = "post_run_cell"


class OwnCells:
    """Notes, for each task, the error with which its cell was left when it last ran."""

    def __init__(self, shell: InteractiveShell | None) -> None:
        self.causes: dict[int, str] = {}
        self._shell = shell
        if shell is not None:
            shell.events.register(AFTER_A_CELL, self._note)

    def leave(self) -> None:
        """Watch no longer. Safe to call twice."""
        if self._shell is not None:
            self._shell.events.unregister(AFTER_A_CELL, self._note)
            self._shell = None

    def _note(self, result: ExecutionResult) -> None:
        line = TASK_LINE.match(result.info.raw_cell or "") if result.info else None
        if line is None:
            return
        error = result.error_before_exec or result.error_in_exec
        # A cell without an answer raises too, and then a hint is what is wanted.
        if error is None or isinstance(error, NotImplementedError):
            self.causes.pop(int(line[1]), None)
        else:
            self.causes[int(line[1])] = f"{type(error).__name__}: {str(error)[:300]}"
