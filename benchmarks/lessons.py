"""How long each lesson and each lab takes without a screen, against what is promised.

./course bench lessons [00 01 ... lab01 ...] [--runs 1]

A lab runs with the author's answers and with the short waits of grading.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from authoring import execute, rules
from authoring.build import Course
from benchmarks._progress import Progress
from grading.define import definition, master

# Seconds: the first lesson is where a learner decides whether to stay.
BUDGETS = {"00_start": 30}
BUDGET = {"lesson": 60, "lab": 90}


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench lessons")
    parser.add_argument("numbers", nargs="*", help="as in 00 or lab01; without any, all")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    course = Course()
    sources = {rules.name(course.script(source)): source for source in course.sources()}
    chosen = [
        name for name in sources if not options.numbers or name.partition("_")[0] in options.numbers
    ]
    if not chosen:
        parser.error(f"there are {', '.join(name.partition('_')[0] for name in sources)}")
    seconds: dict[str, list[float]] = {}
    with Progress(dict.fromkeys(chosen, options.runs), lambda: show(seconds)) as progress:
        for name, _ in progress.goes():
            seconds.setdefault(name, []).append(run(course, sources[name]))
    if late := [name for name, taken in seconds.items() if min(taken) > budget(name)]:
        sys.exit(f"over the budget: {', '.join(late)}")


def run(course: Course, source: Path) -> float:
    """Seconds of one run; a notebook that fails ends the program."""
    script = course.script(source)
    name = rules.name(script)
    lab = definition.load(name) if rules.is_lab(script) else None
    with tempfile.TemporaryDirectory() as folder:
        outcome = execute.run(
            script,
            master.short_text(lab) if lab else source.read_text("utf-8"),
            Path(folder),
            folder=Path(folder) / "work" if lab else course.root / "notebooks",
        )
    if not outcome.passed:
        sys.exit(f"{name}: {outcome.problem}")
    return outcome.seconds


def budget(name: str) -> int:
    return BUDGETS.get(name, BUDGET["lab" if name.startswith("lab") else "lesson"])


def show(seconds: dict[str, list[float]]) -> None:
    table = Table("notebook", "least s", "most s", "budget s")
    for name, taken in seconds.items():
        table.add_row(name, f"{min(taken):.1f}", f"{max(taken):.1f}", str(budget(name)))
    Console().print(table)


if __name__ == "__main__":
    main()
