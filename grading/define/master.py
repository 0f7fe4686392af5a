"""The notebooks of a lab, built from its master; without one, the notebook that was built."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from grading.define.definition import Definition
from kafkalab.errors import CourseError

if TYPE_CHECKING:
    from nbformat import NotebookNode


def blank(lab: Definition) -> NotebookNode:
    """What students get; what a hand-in is woven into."""
    if not lab.place.master.exists():
        return _given_out(lab)
    from authoring.notebooks import student_notebook

    return _built(lab, student_notebook)


def solved(lab: Definition) -> NotebookNode:
    """The reference."""
    from authoring.notebooks import solution_notebook

    return _built(lab, solution_notebook)


def short_text(lab: Definition) -> str:
    """The text of the master with the values of grading behind the learner's defaults."""
    from authoring import percent
    from grading.handin.weave import assignments

    text = lab.place.master.read_text("utf-8")
    script = percent.read(text, lab.place.master.name)
    cell = next(cell for cell in script.code() if "parameters" in cell.tags)
    return text.replace(cell.text, f"{cell.text}\n{assignments(cell.text, lab.values)}", 1)


def prove(lab: Definition) -> None:
    """Refuse a lab whose master cannot be run, before a whole class is told so."""
    from grading.handin.weave import task_cells, weave

    notebook = blank(lab)
    weave(notebook, [], values=lab.values)
    if tasks := set(task_cells(notebook)) ^ set(lab.tasks):
        raise CourseError(
            f"{lab.name} does not fit its lab.toml.",
            f"Tasks {', '.join(map(str, sorted(tasks)))} are in one of the two alone.",
            "Make the two agree.",
        )


def _given_out(lab: Definition) -> NotebookNode:
    """The built notebook, in a course that has no masters."""
    import nbformat

    try:
        return nbformat.reads(lab.place.notebook.read_text("utf-8"), as_version=4)
    except (OSError, ValueError) as error:
        raise CourseError(
            f"The notebook of {lab.name} cannot be read: {lab.place.notebook}.",
            f"The system says: {error}.",
            "Put the course's own version there again.",
        ) from None


def _built(lab: Definition, build: Callable[[str, str], NotebookNode]) -> NotebookNode:
    from authoring.percent import BadScript

    master = lab.place.master
    path = master.relative_to(lab.place.root).as_posix()
    try:
        return copy.deepcopy(_made(build, master.read_text("utf-8"), path))
    except BadScript as error:
        raise CourseError(
            f"The notebook of {lab.name} cannot be built.", str(error), "Mend its script."
        ) from None


@functools.lru_cache(maxsize=64)
def _made(build: Callable[[str, str], NotebookNode], text: str, path: str) -> NotebookNode:
    """Grading, a proof and a release ask again and again, and a notebook follows from its text."""
    return build(text, path)
