"""How long each lesson takes without a screen, against what is promised.

python -m benchmarks.lessons [00 01 ...] [--runs 1]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools import execute
from tools.build import Course

# Seconds: the first lesson is where a learner decides whether to stay.
BUDGETS = {"00_start": 30}
BUDGET = 60


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lessons")
    parser.add_argument("numbers", nargs="*", help="as in 00; without any, all")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    course = Course()
    table = Table("lesson", "least s", "most s", "budget s")
    late = []
    for source in course.sources():
        number = source.stem.partition("_")[0]
        if source.parent.name != "notebooks" or (options.numbers and number not in options.numbers):
            continue
        seconds = []
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as folder:
                outcome = execute.run(
                    course.script(source),
                    source.read_text("utf-8"),
                    Path(folder),
                    folder=course.root / "notebooks",
                )
            if not outcome.passed:
                sys.exit(f"{source.stem}: {outcome.problem}")
            seconds.append(outcome.seconds)
        budget = BUDGETS.get(source.stem, BUDGET)
        table.add_row(source.stem, f"{min(seconds):.1f}", f"{max(seconds):.1f}", str(budget))
        if min(seconds) > budget:
            late.append(source.stem)
    Console().print(table)
    if late:
        sys.exit(f"over the budget: {', '.join(late)}")


if __name__ == "__main__":
    main()
