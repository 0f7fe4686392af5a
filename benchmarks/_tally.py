"""What each experiment came to, go by go: the same every time, or not."""

from __future__ import annotations

import statistics
import sys

from rich.console import Console
from rich.table import Table


class Tally:
    def __init__(self) -> None:
        self._found: dict[str, dict[str, list[float]]] = {}

    def note(self, experiment: str, verdict: str, seconds: float) -> None:
        self._found.setdefault(experiment, {}).setdefault(verdict, []).append(seconds)

    def show(self) -> None:
        table = Table("experiment", "verdict", "times", "median s", "most s")
        for experiment, verdicts in self._found.items():
            goes = sum(map(len, verdicts.values()))
            for verdict, seconds in verdicts.items():
                figures = f"{statistics.median(seconds):.1f}", f"{max(seconds):.1f}"
                table.add_row(experiment, verdict, f"{len(seconds)} of {goes}", *figures)
        Console().print(table)

    def judge(self) -> None:
        """End the program with status 1 where an experiment ended in two ways."""
        if uneven := [name for name, verdicts in self._found.items() if len(verdicts) > 1]:
            sys.exit(f"not the same verdict every time: {', '.join(uneven)}")
