"""The names in which each task of a lab leaves its answer, read from the blank notebook."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from nbformat import NotebookNode

from grading.handin import code
from grading.handin.cells import is_demo, task_number


def names_of_tasks(
    master: NotebookNode, asked: Mapping[int, Collection[str]] | None = None
) -> dict[int, frozenset[str]]:
    """Task -> the names that its cell has to define, as far as the blank notebook and checks tell.

    They stand in the stub, in its last line, in the given cells behind it, and in what its checks
    ask of the notebook (`asked`). No name belongs to two tasks: the first one has it. A task that
    is answered by what it does to the cluster may have none.
    """
    given = [c.source for c in master.cells if c.cell_type == "code" and task_number(c.id) is None]
    ours = frozenset().union(*map(code.bound, given), code.BUILTIN)
    wanted: dict[int, set[str]] = {}
    task: int | None = None
    imported: set[str] = set()
    for cell in master.cells:
        if cell.cell_type != "code" or is_demo(cell):
            continue
        number = task_number(cell.id)
        if number is not None:
            task = number
            imported |= _imported(cell.source)
            wanted[task] = {*code.bound(cell.source), *_shown(cell.source)}
            wanted[task] |= set((asked or {}).get(task, ()))
        elif task is not None:
            wanted[task] |= code.needed(cell.source)
    found: dict[int, frozenset[str]] = {}
    taken = ours | imported
    for number, names in wanted.items():
        found[number] = frozenset(names) - taken
        taken |= names
    return found


def _imported(text: str) -> set[str]:
    tree = code.tree(text)
    return {
        name
        for statement in (tree.body if tree else [])
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for name in code.bound(ast.unparse(statement))
    }


def _shown(text: str) -> set[str]:
    """The names in the expressions that a stub shows."""
    tree = code.tree(text)
    return {
        name
        for statement in (tree.body if tree else [])
        if isinstance(statement, ast.Expr)
        for name in code.used(ast.unparse(statement))
    }
