"""`./course bench`: the ratios that the course promises, measured on this machine."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kafkalab.errors import CourseError
from kafkalab.places import repository


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help="Those to run; all of benchmarks/ without a name.")
    ] = None,
) -> None:
    """Measure speed and memory side by side. Let nothing else run meanwhile.

    Each has options of its own: python -m benchmarks.NAME --help
    """
    folder = repository() / "benchmarks"
    known = sorted(path.stem for path in folder.glob("[!_]*.py"))
    for name in names or known:
        if name not in known:
            raise CourseError(
                f"There is no benchmark called {name!r}.", f"There are {', '.join(known)}."
            )
    console = Console(highlight=False)
    failed = []
    for name in names or known:
        console.rule(name)
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        if subprocess.run(command, cwd=Path(repository())).returncode:
            failed.append(name)
    if failed:
        raise CourseError(f"{', '.join(failed)}: not within what is promised, or ended early.")
