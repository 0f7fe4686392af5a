"""The solved notebook cut into other cells: the code runs in the same order, or in one as good."""

from __future__ import annotations

import ast

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from benchmarks.handins.solved import (
    Change,
    behind_opening,
    code_cells,
    mark,
    parsed,
    parts,
    place,
    put,
    put_below,
    tasks,
    with_mark,
)
from grading.handin.cells import check_number

DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
STUB = "raise NotImplementedError('Task {number}')"


def one_statement_a_cell(notebook: NotebookNode) -> None:
    """Every statement of a task in a cell of its own; the mark stays with the first."""
    for number, cell in tasks(notebook):
        first, *others = parts(cell)
        cell.source = first
        for at, text in enumerate(reversed(others)):
            put_below(notebook, cell, text, f"part-{number}-{at}")


def split_above(notebook: NotebookNode) -> None:
    """The last statement of a task keeps its id and loses the mark: the rest is cut off above."""
    for number, cell in tasks(notebook):
        *before, last = parts(cell)
        if before:
            put(notebook, cell, "\n".join(before), f"above-{number}")
            cell.source = last


def merged_with_checks(notebook: NotebookNode) -> None:
    """Each check stands at the end of its task's cell."""
    answered = dict(tasks(notebook))
    behind = {n: place(notebook, cell) for n, cell in answered.items()}
    for cell in code_cells(notebook):
        number = check_number(cell.id)
        above = number is not None and _cells_between(notebook, behind[number], cell) == 0
        if number is not None and above:
            answered[number].source += f"\n\n{cell.source}"
            notebook.cells.remove(cell)


def _cells_between(notebook: NotebookNode, start: int, cell: NotebookNode) -> int:
    between = notebook.cells[start + 1 : place(notebook, cell)]
    return sum(other.cell_type == "code" for other in between)


def helpers_at_the_top(notebook: NotebookNode) -> None:
    """Functions, classes and imports of all tasks stand in one cell below the set-up."""
    moved: list[str] = []
    for _, cell in tasks(notebook):
        body = parsed(cell).body
        up = [statement for statement in body if _is_loose(statement)]
        if len(up) < len(body):
            moved += map(ast.unparse, up)
            left = [ast.unparse(statement) for statement in body if statement not in up]
            cell.source = with_mark(cell, "\n".join(left))
    behind_opening(notebook, "\n\n".join(moved) or "helpers = []")


def _is_loose(statement: ast.stmt) -> bool:
    """Whether it can stand anywhere: a definition that needs nothing of the notebook yet."""
    if isinstance(statement, ast.ClassDef):
        return not statement.bases and not statement.decorator_list
    return isinstance(statement, DEFINES)


def helpers_above_each_task(notebook: NotebookNode) -> None:
    """Functions, classes and imports stand in a cell right above the task that needs them."""
    for number, cell in tasks(notebook):
        body = parsed(cell).body
        up = [statement for statement in body if isinstance(statement, DEFINES)]
        if up and len(up) < len(body):
            put(notebook, cell, "\n\n".join(map(ast.unparse, up)), f"helper-{number}")
            left = [ast.unparse(statement) for statement in body if statement not in up]
            cell.source = with_mark(cell, "\n".join(left))


def imports_at_the_top(notebook: NotebookNode) -> None:
    """All imports, those of given cells too, are written once more in the first own cell."""
    found: dict[str, None] = {}
    for cell in code_cells(notebook):
        for statement in ast.parse(cell.source).body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                found[ast.unparse(statement)] = None
    behind_opening(notebook, "\n".join(found))


def answer_below_the_stub(notebook: NotebookNode) -> None:
    """The cell of the task is as it was given out, the answer stands in a new one below it."""
    for number, cell in tasks(notebook):
        put_below(notebook, cell, cell.source.partition("\n")[2], f"answer-{number}")
        cell.source = f"{mark(cell)}\n{STUB.format(number=number)}"


def a_first_try_above(notebook: NotebookNode) -> None:
    """What did not work stands above, with the mark; so does the answer below it."""
    for number, cell in tasks(notebook):
        put(notebook, cell, f"{mark(cell)}\nfirst_try = 1 / 0", f"try-{number}")


def a_look_behind_each_task(notebook: NotebookNode) -> None:
    """Cells that only look, below every task."""
    for number, cell in tasks(notebook):
        put_below(notebook, cell, "print(sorted(globals())[:3])", f"look-{number}")


def notes_and_empty_cells(notebook: NotebookNode) -> None:
    """Own words, raw cells and empty cells around every task."""
    for number, cell in tasks(notebook):
        at = place(notebook, cell)
        notebook.cells[at:at] = [
            new_markdown_cell(f"My idea for task {number}: 🤔 *müde*", id=f"note-{number}"),
            new_code_cell("", id=f"empty-{number}"),
            new_code_cell("# todo: look at this again", id=f"todo-{number}"),
        ]


def checked_twice(notebook: NotebookNode) -> None:
    """Each check is run a second time, and the score in between."""
    for cell in code_cells(notebook):
        number = check_number(cell.id)
        if number is not None:
            put_below(notebook, cell, f"lab.check({number})\nlab.score()", f"again-{number}")


def checks_deleted(notebook: NotebookNode) -> None:
    notebook.cells = [cell for cell in notebook.cells if check_number(cell.get("id", "")) is None]


def given_cells_edited(notebook: NotebookNode) -> None:
    """Prints and comments in the given cells, and their blank lines gone."""
    for number, cell in enumerate(code_cells(notebook)):
        if not cell.id.startswith(("task-", "check-")):
            lines = [line for line in cell.source.splitlines() if line.strip()]
            cell.source = "\n".join(["# given", *lines, f"print('cell {number} ran')"])


def demos_deleted(notebook: NotebookNode) -> None:
    """What only shows something is gone."""
    notebook.cells = [
        cell for cell in notebook.cells if "demo" not in cell.get("metadata", {}).get("tags", [])
    ]


CELLS: tuple[Change, ...] = (
    one_statement_a_cell, split_above, merged_with_checks, helpers_at_the_top,
    helpers_above_each_task, imports_at_the_top, answer_below_the_stub, a_first_try_above,
    a_look_behind_each_task, notes_and_empty_cells, checked_twice, checks_deleted,
    given_cells_edited, demos_deleted,
)  # fmt: skip
