"""Percent script text -> notebook: pure, so that builder, grader and tests share it.

The same text gives the same bytes on every machine and in every run: cell ids are hashes, the
kernel is written down, and nothing of the machine or of a run goes in.
"""

import functools
import hashlib
from collections import Counter
from collections.abc import Callable, Collection

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from authoring import percent, rules, solutions
from authoring.percent import BadScript, Cell, Script
from grading.define.cells import code_cell, markdown_cell
from grading.define.marks import CHECK, TASK

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def student_notebook(text: str, path: str, navigation: str = "") -> NotebookNode:
    """The page, as a reader gets it: without proofs, and for each solution a line that raises.

    path: where the text comes from, relative to the repository; it stands in the metadata and in
    front of every problem. Raises BadScript with all that is wrong.
    """
    script = checked(text, path).page()
    titles = rules.task_titles(script)

    def code(cell: Cell) -> str:
        if cell.task:
            return solutions.student_text(cell, titles[cell.task])
        return solutions.blank_text(cell) if cell.is_exercise else solutions.solution_text(cell)

    return _notebook(with_answers(script), navigation, code)


def solution_notebook(text: str, path: str, navigation: str = "") -> NotebookNode:
    """All of the script: the page with its proofs and its solutions, without their marks."""
    return _notebook(with_answers(checked(text, path)), navigation, solutions.solution_text)


def with_answers(script: Script) -> Script:
    """With a folded answer behind each exercise."""
    cells = []
    for cell in script.cells:
        cells.append(cell)
        if cell.is_exercise:
            cells.append(Cell("markdown", (), solutions.folded(cell), cell.line))
    return Script(script.path, cells, script.problems)


def checked(
    text: str, path: str, hints: set[int] | None = None, rows: Collection[str] | None = None
) -> Script:
    """The script, or BadScript. What is not given (see rules.refusals) is not looked at."""
    known = None if hints is None else frozenset(hints)
    return _checked(text, path, known, None if rows is None else frozenset(rows))


@functools.lru_cache(maxsize=128)
def _checked(
    text: str, path: str, hints: frozenset[int] | None, rows: frozenset[str] | None
) -> Script:
    """A build asks for each script once for the tables and once for its page."""
    script = percent.read(text, path)
    if problems := rules.refusals(script, hints=hints, rows=rows):
        raise BadScript(problems)
    return script


def to_text(notebook: NotebookNode) -> str:
    """The bytes of the file: indented by 1, keys sorted, a line feed at the end."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"


def _notebook(script: Script, navigation: str, code: Callable[[Cell], str]) -> NotebookNode:
    cells = [
        _cell(cell, cell.text if cell.kind == "markdown" else code(cell)) for cell in script.cells
    ]
    if navigation:
        cells.append(_cell(Cell("markdown", (), navigation, 0), navigation))
    _identify(cells)
    metadata = {
        "kernelspec": dict(KERNEL),
        "language_info": {"name": "python"},
        "kafka_course": {
            "generated": "Do not edit: change the source, then run ./course build.",
            "source": script.path,
        },
    }
    # nbformat writes the minor version of its own; 4.5 is the first with cell ids
    return new_notebook(cells=cells, metadata=metadata, nbformat=4, nbformat_minor=5)


def _cell(cell: Cell, text: str) -> NotebookNode:
    metadata = {"tags": list(cell.tags)} if cell.tags else {}
    new = markdown_cell if cell.kind == "markdown" else code_cell
    return new(text, metadata=metadata)


def _identify(cells: list[NotebookNode]) -> None:
    """Cell ids: the tag of a question; else a hash of kind and text, with a counter for twins.

    So a changed cell changes its own id only, a proof beside a cell changes none, and the grader
    finds a question by its id.
    """
    seen: Counter[str] = Counter()
    for cell in cells:
        tags = cell.metadata.get("tags", [])
        questions = [tag for tag in tags if TASK.match(tag) or CHECK.match(tag)]
        if questions:
            cell.id = questions[0]
            continue
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        if percent.PROOF in tags:
            digest = f"{percent.PROOF}-{digest}"
        seen[digest] += 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
