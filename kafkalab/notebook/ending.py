"""A page that was run to its end, noted beside it."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from kafkalab.errors import CourseError
from kafkalab.notebook import kept, page

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionResult

KIND, NAME = "page", "end"


def watch() -> None:
    """Note it from now on. Nothing where no notebook runs."""
    shell = page.shell()
    if shell is not None and hasattr(shell, "kernel"):
        shell.events.register("post_run_cell", _after_cell)


def _after_cell(result: ExecutionResult) -> None:
    cell = getattr(result.info, "cell_id", None)
    if result.success and cell and cell == last_cell():
        with contextlib.suppress(CourseError):  # what needs its answers says so in a cell
            kept.keep(KIND, NAME, reached=True)


def last_cell() -> str:
    """The id of the last cell of code of this page as it is saved; "" where that is not known."""
    file = page.file()
    try:
        cells = json.loads(file.read_text("utf-8"))["cells"] if file else []
        return next((one["id"] for one in reversed(cells) if one["cell_type"] == "code"), "")
    except (OSError, ValueError, KeyError, TypeError):
        return ""
