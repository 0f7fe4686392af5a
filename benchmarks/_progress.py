"""How far a benchmark is while it runs, and what it has found when it is cut off."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType

from rich import progress
from rich.console import Console


class Progress:
    """A bar in a terminal; a line for each part that is done, there and elsewhere. On stderr.

    with Progress({"frozen": 20, "dropped": 20}, show) as progress, Cluster.start() as cluster:
        for part, number in progress.goes():
            ...

    At its end `show` prints what was found; also where that is an error, or Ctrl-C, which ends the
    program with status 130.
    """

    def __init__(self, plan: Mapping[str, int], show: Callable[[], None]) -> None:
        """`plan`: of how many goes each part consists."""
        self._plan = plan
        self._show = show
        self._done = 0
        console = Console(stderr=True, highlight=False)
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            console=console,
            refresh_per_second=2,  # what is measured shares the machine with it
            disable=not console.is_terminal,
        )

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def goes(self) -> Iterator[tuple[str, int]]:
        """Each part as often as planned, and its goes counted from 0; one is over at the next."""
        total = sum(self._plan.values())
        task = self._bar.add_task("", total=total)
        for part, goes in self._plan.items():
            began = time.monotonic()
            for number in range(goes):
                self._bar.update(task, description=part)
                yield part, number
                self._done += 1
                self._bar.advance(task)
            took = time.monotonic() - began
            self._bar.console.print(
                f"{part}: {goes} in {took:.0f} s; {self._done} of {total}", markup=False
            )

    def __exit__(
        self, kind: type[BaseException] | None, error: object, where: TracebackType | None
    ) -> None:
        self._bar.stop()
        if self._done:
            self._show()
        if kind is KeyboardInterrupt:
            total = sum(self._plan.values())
            print(f"Interrupted after {self._done} of {total}.", file=sys.stderr)
            raise SystemExit(130) from None
