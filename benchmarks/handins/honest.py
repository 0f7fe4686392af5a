"""All honest hand-ins of a lab, each with its name."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial

from nbformat import NotebookNode

from benchmarks.handins.cells import CELLS
from benchmarks.handins.formats import FORMATS, written
from benchmarks.handins.routes import answered, routes
from benchmarks.handins.solved import Change
from benchmarks.handins.styles import STYLES
from grading.define import master
from grading.define.definition import Definition

# A fault meets the cell that begins with the mark.
BESIDE_A_FAULT = {
    "marks_lost", "marks_and_ids_lost", "marks_retyped", "one_statement_a_cell", "split_above",
    "answer_below_the_stub", "a_first_try_above", "timed",
}  # fmt: skip
# What a run from top to bottom in JupyterLab does not survive in a lab, so that it is not honest.
BREAKS = {
    # the program of lab 03 is made of the cells that begin with their marks, and is Python alone
    "03": {
        "marks_lost", "marks_and_ids_lost", "marks_retyped", "one_statement_a_cell", "split_above",
        "answer_below_the_stub", "helpers_at_the_top", "helpers_above_each_task",
        "with_magics", "timed", "merged_with_checks",
    },
    "05": BESIDE_A_FAULT,
    "07": BESIDE_A_FAULT,
    "14": BESIDE_A_FAULT,
}  # fmt: skip


def honest(lab: Definition) -> Iterator[tuple[str, bytes]]:
    """Name and file of each honest hand-in of a lab."""
    solved = master.solved(lab)
    yield "as the master", written(copy.deepcopy(solved))
    made: list[tuple[str, Callable[[NotebookNode], bytes]]] = []
    made += [(one.__name__, one) for one in FORMATS]
    made += [(one.__name__, partial(_changed, one)) for one in (*CELLS, *STYLES)]
    made += [(f"route {n}", partial(_by_route, text)) for n, text in routes(lab.place).items()]
    for name, make in made:
        if name not in BREAKS.get(lab.place.number, ()):
            yield name.replace("_", " "), make(copy.deepcopy(solved))


def _changed(change: Change, notebook: NotebookNode) -> bytes:
    change(notebook)
    return written(notebook)


def _by_route(text: str, notebook: NotebookNode) -> bytes:
    answered(notebook, text)
    return written(notebook)
