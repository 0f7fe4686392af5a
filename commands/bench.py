"""`./course bench`: the ratios that the course promises, measured on this machine."""

import itertools
import signal
import subprocess
import sys
from typing import Annotated

import typer
from rich.console import Console

from kafkalab.errors import CourseError
from kafkalab.places import repository

INTERRUPTED = (130, -signal.SIGINT)


def bench(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]... [ARGUMENT]...",
            help="Those to run, all without a name; then what each is given, as in "
            "`duplicates zombie --repeat 5`, or --help.",
        ),
    ] = None,
) -> None:
    """Measure speed and memory side by side. Let nothing else run meanwhile."""
    known = sorted(path.stem for path in (repository() / "benchmarks").glob("[!_]*.py"))
    given = words or known
    names = list(itertools.takewhile(known.__contains__, given))
    if not names:
        raise CourseError(
            f"There is no benchmark called {given[0]!r}.", f"There are {', '.join(known)}."
        )
    console = Console(highlight=False)
    failed = []
    for name in names:
        console.rule(name)
        status = _run(name, given[len(names) :])
        if status in INTERRUPTED:
            raise KeyboardInterrupt
        if status:
            failed.append(name)
    if failed:
        raise CourseError(f"{', '.join(failed)}: not within what is promised, or ended early.")


def _run(name: str, arguments: list[str]) -> int:
    """The status in which it ends. Ctrl-C reaches it too, and its end is waited for."""
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    with subprocess.Popen(command, cwd=repository()) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # it prints what it has found and ends its clusters
