"""Cheats: a blank lab with code that wants points, other people's records, or to stay.

Their code runs for real, so it goes only for what this benchmark made: its course folder, files of
its own name beside the code, and the process that runs it with that one's parent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.handins.formats import written
from benchmarks.handins.solved import behind_opening, code_cells, put, tasks
from grading.define import master
from grading.define.definition import Definition

FOLDER = Path(__file__).parent / "cheating"
LOOT = "fairness-loot:"
"""A cheat prints it in front of what it could read and should not."""
CHECK = re.compile(r"check-(\d+)")
JUNK, TYPED = FOLDER / "junk.py", "typed_results"
STRAY = "fairness_stray_process"
"""In the command line of each process that a cheat wants to leave behind."""


def cheats(lab: Definition, values: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Name and file of each cheat. values: what their code finds as names in capitals."""
    told = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    for file in sorted((FOLDER / f"lab{lab.place.number}").glob("*.py")):
        text = file.read_text("utf-8")
        yield file.stem.replace("_", " "), _blank_with(lab, f"{told}\n{text}")
        if file.stem == TYPED:
            everything = f"# before each check\n{JUNK.read_text('utf-8')}\n{text}"
            yield "typed beside junk", _blank_with(lab, everything)


def _blank_with(lab: Definition, text: str) -> bytes:
    """The blank lab with this code below its opening, or where its comment says."""
    notebook = master.blank(lab)
    if "# in each task" in text:
        for number, cell in tasks(notebook):
            cell.source = f"# Task {number}\nTASK = {number}\n{text}"
    elif "# before each check" in text:
        for cell in code_cells(notebook):
            if (found := CHECK.fullmatch(cell.id)) is not None:
                put(notebook, cell, f"TASK = {found[1]}\n{text}", f"own-{found[1]}")
    else:
        behind_opening(notebook, text)
    return written(notebook)
