"""Marks for Gradescope, which takes none from a table: an autograder that knows them.

The archive is uploaded as the autograder of a programming assignment. It looks up who handed in
and gives the points that were made here; whom it does not know gets none, and the staff is told.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from grading.book.labclass import LabClass, known_as
from grading.book.marks import Absent, Mark
from grading.book.platforms import CANVAS, MOODLE
from grading.define.definition import Definition

PROGRAM = Path(__file__).parent / "gradescope"
FILES = ("run_autograder", "setup.sh")


def archive(found: LabClass, lab: Definition) -> tuple[bytes, int]:
    """The zip archive, and how many marks it has."""
    marks = [mark for mark in found.one_each() if mark.points is not None]
    # Who shares a name with others, graded or not, is known by mail or id alone.
    everybody: list[Mark | Absent] = [*found.one_each(), *found.missing]
    shared = Counter(word for one in everybody for word in known_as(one))
    table: dict[str, Any] = {}
    for mark in marks:
        result = _result(mark, lab)
        table |= {word: result for word in known_there(mark) if shared[word] == 1}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as opened:
        for name in FILES:
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o755 << 16
            opened.writestr(info, (PROGRAM / name).read_bytes())
        opened.writestr("marks.json", json.dumps(table, ensure_ascii=False, indent=1))
    return packed.getvalue(), len(marks)


def known_there(mark: Mark) -> set[str]:
    """What Gradescope may call somebody: not by a number that only another platform gives."""
    return known_as(mark, numbers=mark.record.platform not in (MOODLE.name, CANVAS.name))


def _result(mark: Mark, lab: Definition) -> dict[str, Any]:
    """What Gradescope shows: the points, and those of each task. Checks are not named."""
    scale = lab.points / mark.full if mark.full else 0
    tests = []
    for task in lab.tasks.values():
        lines = [line for line in mark.lines if line.check["task"] == task.number]
        full = sum(line.full for line in lines)
        if full and any(line.reached is not None for line in lines):
            tests.append(
                {
                    "name": f"Task {task.number}: {task.title}",
                    "score": round(sum(line.reached or 0 for line in lines), 2),
                    "max_score": round(full, 2),
                    "visibility": "visible",
                }
            )
    return {
        "score": round((mark.points or 0) * scale, 2),
        "output": "\n".join(mark.words),
        "visibility": "visible",
        "tests": tests,
    }
