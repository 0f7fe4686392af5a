"""How long each lesson and each lab takes without a screen, against what is promised.

python -m benchmarks.lessons [00 01 ... lab01 ...] [--runs 1]

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
from grading.define import definition, master

# Seconds: the first lesson is where a learner decides whether to stay.
BUDGETS = {"00_start": 30}
BUDGET = {"lesson": 60, "lab": 90}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lessons")
    parser.add_argument("numbers", nargs="*", help="as in 00 or lab01; without any, all")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    course = Course()
    table = Table("notebook", "least s", "most s", "budget s")
    late = []
    for source in course.sources():
        script = course.script(source)
        name = rules.name(script)
        if options.numbers and name.partition("_")[0] not in options.numbers:
            continue
        lab = definition.load(name) if rules.is_lab(script) else None
        text = master.short_text(lab) if lab else source.read_text("utf-8")
        seconds = []
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as folder:
                outcome = execute.run(
                    script,
                    text,
                    Path(folder),
                    folder=Path(folder) / "work" if lab else course.root / "notebooks",
                )
            if not outcome.passed:
                sys.exit(f"{name}: {outcome.problem}")
            seconds.append(outcome.seconds)
        budget = BUDGETS.get(name, BUDGET["lab" if lab else "lesson"])
        table.add_row(name, f"{min(seconds):.1f}", f"{max(seconds):.1f}", str(budget))
        if min(seconds) > budget:
            late.append(name)
    Console().print(table)
    if late:
        sys.exit(f"over the budget: {', '.join(late)}")


if __name__ == "__main__":
    main()
