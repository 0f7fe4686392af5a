"""Hand-written answers: each a file in routes/labNN, with the cells of the tasks it answers.

What stands above the first `# Task N` becomes a cell of the student's own below the set-up; tasks
that are not in the file are answered as in the master.
"""

from __future__ import annotations

import re
from pathlib import Path

from nbformat import NotebookNode

from benchmarks.handins.solved import behind_opening, tasks
from grading.define.place import Place

FOLDER = Path(__file__).parent / "routes"
TASK = re.compile(r"^# Task (\d+)$", re.MULTILINE)


def routes(place: Place) -> dict[str, str]:
    """Name -> text of each route for a lab."""
    files = sorted((FOLDER / f"lab{place.number}").glob("*.py"))
    return {file.stem: file.read_text("utf-8") for file in files}


def answered(notebook: NotebookNode, text: str) -> None:
    """Put the answers of a route into a solved notebook."""
    top, *rest = TASK.split(text)
    answers = dict(zip(map(int, rest[::2]), rest[1::2], strict=True))
    cells = dict(tasks(notebook))
    for number, answer in answers.items():
        cells[number].source = f"# Task {number}\n{answer.strip()}"
    if top.strip():
        behind_opening(notebook, top.strip())
