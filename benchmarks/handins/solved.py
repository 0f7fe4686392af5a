"""A solved notebook, and what the changes to it share."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from grading.handin.cells import task_number

Change = Callable[[NotebookNode], None]
"""Makes another hand-in of a solved notebook, in place."""


def tasks(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    """The cells of tasks by their number."""
    for cell in list(notebook.cells):
        number = task_number(cell.id)
        if number is not None:
            yield number, cell


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def put(notebook: NotebookNode, before: NotebookNode, text: str, name: str) -> NotebookNode:
    """A new code cell in front of another one."""
    made = new_code_cell(text, id=name)
    notebook.cells.insert(place(notebook, before), made)
    return made


def put_below(notebook: NotebookNode, above: NotebookNode, text: str, name: str) -> NotebookNode:
    """A new code cell below another one."""
    made = new_code_cell(text, id=name)
    notebook.cells.insert(place(notebook, above) + 1, made)
    return made


def place(notebook: NotebookNode, cell: NotebookNode) -> int:
    return next(at for at, other in enumerate(notebook.cells) if other is cell)


def opening(notebook: NotebookNode) -> NotebookNode:
    """The cell that opens the lab."""
    return next(cell for cell in code_cells(notebook) if "Lab.open(" in cell.source)


def behind_opening(notebook: NotebookNode, text: str) -> None:
    """A cell of the student's own below the one that opens the lab."""
    put_below(notebook, opening(notebook), text, "own-helpers")


def mark(cell: NotebookNode) -> str:
    """The line `# Task N` of a cell."""
    return cell.source.partition("\n")[0]


def parsed(cell: NotebookNode) -> ast.Module:
    return ast.parse(cell.source)


def with_mark(cell: NotebookNode, body: str) -> str:
    return f"{mark(cell)}\n{body}"


def parts(cell: NotebookNode) -> list[str]:
    """The source of each statement of a cell, with the comments above it."""
    lines = cell.source.splitlines()
    ends = [statement.end_lineno or 0 for statement in parsed(cell).body]
    starts = [0, *ends[:-1]]
    cut = ["\n".join(lines[start:end]).strip("\n") for start, end in zip(starts, ends, strict=True)]
    return [part for part in cut if part]
