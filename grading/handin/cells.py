"""A cell of a hand-in, and what cells of the master say about themselves."""

from __future__ import annotations

from dataclasses import dataclass

from nbformat import NotebookNode

from grading.define.marks import CHECK, TASK, TASK_LINE

DEMO = "demo"
"""Tag of a cell that shows something and that no task needs."""
PARAMETERS_TAG = "parameters"


@dataclass(frozen=True)
class HandedIn:
    """A cell of a hand-in, reduced to what can matter. All of it was written by the student."""

    id: str
    kind: str
    text: str
    tags: tuple[str, ...] = ()


def plain(text: str) -> str:
    """Text for comparing: editors change line ends, trailing blanks and the last empty lines."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def task_number(cell_id: str) -> int | None:
    """The N of the id task-N."""
    match = TASK.match(cell_id)
    return int(match[1]) if match else None


def check_number(cell_id: str) -> int | None:
    """The N of the id check-N."""
    match = CHECK.match(cell_id)
    return int(match[1]) if match else None


def said_task(text: str) -> int | None:
    """The N of the first line `# Task N`."""
    match = TASK_LINE.match(text)
    return int(match[1]) if match else None


def task_cells(notebook: NotebookNode) -> dict[int, str]:
    """The text of the cell of each task: stubs of the blank notebook, answers of the solution."""
    numbered = ((task_number(cell.id), cell.source) for cell in notebook.cells)
    return {number: text for number, text in numbered if number is not None}


def is_demo(cell: NotebookNode) -> bool:
    """Whether a cell of the master only shows something."""
    return DEMO in cell.metadata.get("tags", [])


def as_handed_in(notebook: NotebookNode) -> list[HandedIn]:
    """A notebook of ours as if a student had handed it in."""
    return [HandedIn(cell.id, cell.cell_type, cell.source) for cell in notebook.cells]
