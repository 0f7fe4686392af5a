"""`grade --jobs 2` beside nbgrader's autograde: the same hand-ins of a trivial notebook.

./course bench nbgrader [--students 12] [--runs 1] [--json]

Three small tasks without a cluster. nbgrader is installed into an environment of its own in the
cache of this machine, the first time; nothing of the course needs it. Both are timed as a whole
process, from the command to its end, and both must give everybody the same marks.
On a machine with other work to do the seconds say little; those of its processors, also shown, are
what each took of them. Those of `grade` lack its kernels, which end with their sandbox.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from rich.console import Console
from rich.table import Table

from authoring.build import solution_notebook
from kafkalab import environment, places
from tests.grading.tiny import NAME, write_course

NBGRADER = "nbgrader==0.9.6"
LEAST = 2.0  # times nbgrader's throughput
FULL = 8.0  # points
ASSIGNMENT = "tiny"
SET_UP = "from types import SimpleNamespace\n\np = SimpleNamespace(number=417, name='tiny')"
# What the checks of the tiny lab ask, task by task, with the same points.
ASKED = {
    "check-1": (2, "assert double == 2 * p.number"),
    "check-2": (
        4,
        "assert len(reversed_words) == 6\nassert reversed_words[0] == 'ba'\n"
        "assert reversed_words[-1] == 'edc'\nassert reverse('abcdefg') == 'gfedcba'",
    ),
    "check-3": (2, "assert said == p.name"),
}
GRADE = """
import sys
from pathlib import Path
from commands import app
from grading.define import place
course = Path(sys.argv[1])
place.repository = lambda: course
sys.exit(app.main(["grade", *sys.argv[2:]]))
"""
SCORES = """
import json
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db") as book:
    print(json.dumps([one.score for one in book.assignment_submissions("tiny")]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench nbgrader")
    parser.add_argument("--students", type=int, default=12)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    programs = installed()
    names = [f"student-{chr(ord('a') + n // 26)}{chr(ord('a') + n % 26)}" for n in
             range(options.students)]  # fmt: skip
    theirs: list[Cost] = []
    ours: list[Cost] = []
    for _ in range(options.runs):
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            autograde(programs, Path(folder), names, theirs)
            grade(Path(folder), names, ours)
    result = {
        "students": options.students,
        "nbgrader": statistics.median(cost.seconds for cost in theirs),
        "grade": statistics.median(cost.seconds for cost in ours),
        "nbgrader_processors": statistics.median(cost.processors for cost in theirs),
        "grade_processors": statistics.median(cost.processors for cost in ours),
        "load": os.getloadavg()[0],
        "least": LEAST,
    }
    result["ratio"] = result["nbgrader"] / result["grade"]
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        show(result)
    if result["ratio"] < LEAST:
        sys.exit(1)


@dataclass(frozen=True)
class Cost:
    """Of a command: its seconds, and those of the processors that it and its processes took."""

    seconds: float
    processors: float


@contextlib.contextmanager
def measured(found: list[Cost]) -> Iterator[None]:
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    yield
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found.append(Cost(seconds, used))


def installed() -> Path:
    """The folder of the programs of nbgrader's environment, made where it is not there."""
    folder = places.cache() / NBGRADER.replace("==", "-")
    programs, done = folder / "bin", folder / "installed"
    if not done.exists():
        print(f"Installing {NBGRADER} into {folder}", file=sys.stderr)
        run([sys.executable, "-m", "venv", "--clear", str(folder)], folder.parent)
        run([str(programs / "pip"), "install", "--quiet", NBGRADER], folder)
        done.touch()
    return programs


def autograde(programs: Path, folder: Path, names: list[str], found: list[Cost]) -> None:
    """What `nbgrader autograde` takes for the class."""
    course = folder / "theirs"
    (course / "source" / ASSIGNMENT).mkdir(parents=True)
    (course / "nbgrader_config.py").write_text(
        f"get_config().CourseDirectory.root = {str(course)!r}\n"
    )
    solved = for_nbgrader(solution_notebook(NAME, write_course(folder / "made")))
    nbformat.write(solved, course / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
    program = str(programs / "nbgrader")
    run([program, "generate_assignment", ASSIGNMENT], course)
    for name in names:
        place = course / "submitted" / name / ASSIGNMENT
        place.mkdir(parents=True)
        nbformat.write(solved, place / f"{ASSIGNMENT}.ipynb")
    with measured(found):
        run([program, "autograde", ASSIGNMENT], course)
    scores = json.loads(run([str(programs / "python"), "-c", SCORES], course))
    expect_full(scores, names, "nbgrader")


def grade(folder: Path, names: list[str], found: list[Cost]) -> None:
    """What `grade --jobs 2` takes for the same class."""
    course = write_course(folder / "ours")
    solved = solution_notebook(NAME, course)
    class_folder = folder / "class"
    class_folder.mkdir()
    for name in names:
        nbformat.write(solved, class_folder / f"{name}.ipynb")
    asked = [NAME, str(class_folder), "--out", str(folder / "out"), "--jobs", "2", "--json"]
    with measured(found):
        told = run([sys.executable, "-P", "-c", GRADE, str(course), *asked], places.repository())
    expect_full([record["reached"] for record in json.loads(told)], names, "grade")


def for_nbgrader(notebook: NotebookNode) -> NotebookNode:
    """The tiny lab with nbgrader's marks: its answers as solutions, its checks as tests."""
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type != "code":
            continue
        if "definition.load" in cell.source:
            cell.source = SET_UP
        elif cell.id in ASKED:
            points, cell.source = ASKED[cell.id]
            cell.metadata = marked(cell.id, points=points, grade=True, locked=True)
        elif cell.id.startswith("task-"):
            cell.source = f"### BEGIN SOLUTION\n{cell.source}\n### END SOLUTION"
            cell.metadata = marked(cell.id, solution=True)
    return notebook


def marked(name: str, **more: object) -> dict[str, dict[str, object]]:
    plain = {"grade": False, "solution": False, "locked": False, "task": False}
    return {"nbgrader": {"schema_version": 3, "grade_id": name, **plain, **more}}


def expect_full(points: list[float], names: list[str], who: str) -> None:
    if points != [FULL] * len(names):
        sys.exit(f"{who} gave {points}, and everybody has {FULL:g} points")


def run(command: list[str], folder: Path) -> str:
    """What a command printed; one that fails ends the benchmark with its words."""
    # nbgrader calls programs of its own environment by their names
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = environment.for_python() | {"PATH": path}
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command[:3])} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


def show(result: dict[str, float]) -> None:
    table = Table("", "seconds", "hand-ins a minute", "seconds of processors")
    for name in ("nbgrader", "grade"):
        rate = 60 * result["students"] / result[name]
        used = result[f"{name}_processors"]
        table.add_row(name, f"{result[name]:.1f}", f"{rate:.0f}", f"{used:.1f}")
    console = Console(highlight=False)
    console.print(table)
    console.print(
        f"{result['ratio']:.1f} times its throughput; at least {LEAST:g} is promised "
        f"(load of the machine: {result['load']:.1f})"
    )


if __name__ == "__main__":
    main()
