"""Cheats: a blank lab with code that wants points, other people's records, or to stay.

Their code runs for real, so it goes only for what this benchmark made: its course folder, files of
its own name beside the code, and the process that runs it with that one's parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from nbformat import NotebookNode

from benchmarks.handins.formats import written
from benchmarks.handins.solved import behind_opening, tasks
from grading.define import master
from grading.define.definition import Definition

FOLDER = Path(__file__).parent / "cheating"
LOOT = "fairness-loot:"
"""A cheat prints it in front of what it could read and should not."""
STRAY = "fairness_stray_process"
"""In the command line of each process that a cheat wants to leave behind."""


def cheats(lab: Definition, values: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Name and file of each cheat. values: what their code finds as names in capitals."""
    told = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    for file in sorted((FOLDER / f"lab{lab.place.number}").glob("*.py")):
        text = file.read_text("utf-8")
        notebook = master.blank(lab)
        _put(notebook, f"{told}\n{text}", in_each_task="# in each task" in text)
        yield file.stem.replace("_", " "), written(notebook)


def _put(notebook: NotebookNode, text: str, in_each_task: bool) -> None:
    if in_each_task:
        for number, cell in tasks(notebook):
            cell.source = f"# Task {number}\nTASK = {number}\n{text}"
    else:
        behind_opening(notebook, text)
