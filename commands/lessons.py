"""`./course build` and `./course run`: from the source of the lessons to proof that they work."""

import json as json_format
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from authoring import execute
from authoring.build import Course
from authoring.execute import Outcome
from authoring.percent import BadScript
from kafkalab.errors import CourseError

OUTPUT = Path("build", "run")


def build(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say what differs from the scripts.")
    ] = False,
) -> None:
    """Write notebooks/ and labs/ from the scripts in lessons/, and the tables made from them."""
    course = Course()
    try:
        problems = course.differences() if check else []
        changed = [] if check else course.write()
    except BadScript as error:
        problems, changed = error.problems, []
    console = Console(stderr=bool(problems), soft_wrap=True)
    for line in [*problems, *changed]:
        console.print(escape(str(line)), highlight=False)
    if problems:
        console.print(f"{len(problems)} to mend.")
        raise typer.Exit(1)
    if not changed:
        console.print("Everything is built.")


def run(
    lessons: Annotated[
        list[str] | None,
        typer.Argument(help="Numbers or names, as in 05 or 05_durability; without any, all."),
    ] = None,
    cell_seconds: Annotated[
        float, typer.Option(min=1, help="The longest that one cell may take.")
    ] = execute.CELL_SECONDS,
    lesson_seconds: Annotated[
        float, typer.Option(min=1, help="The longest that one lesson may take.")
    ] = execute.LESSON_SECONDS,
    engine: Annotated[
        Literal["process", "docker"] | None,
        typer.Option(help="What runs the clusters; without it KAFKALAB_ENGINE or process."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the executed pages go.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the outcomes as JSON.")] = False,
) -> None:
    """Run lessons without a screen; the executed pages go to build/run/ if nothing else is said.

    One that fails does not keep the others from running. Exit code 1 if any failed.
    """
    course = Course()
    sources = chosen(course, lessons or [])
    if engine:
        os.environ["KAFKALAB_ENGINE"] = engine  # the kernels inherit it
    console = Console(stderr=json)
    outcomes = []
    pages = output.absolute() if output else course.root / OUTPUT
    with console.status("") as status:
        for number, source in enumerate(sources, start=1):
            status.update(f"{source.stem} ({number} of {len(sources)})")
            outcome = run_one(course, source, pages, cell_seconds, lesson_seconds)
            outcomes.append(outcome)
            word = "[green]passed[/]" if outcome.passed else "[red]failed[/]"
            console.print(f"{word} {outcome.lesson} in {outcome.seconds:.1f} s", highlight=False)
    if json:
        json_format.dump([outcome.as_dict() for outcome in outcomes], sys.stdout, indent=1)
        print()
    else:
        console.print(summary(outcomes))
    if not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(1)


def chosen(course: Course, names: list[str]) -> list[Path]:
    """The scripts of the lessons with these numbers or names, in the order of the course."""
    sources = course.lessons()
    if not sources:
        raise CourseError("There is no lesson to run.", "lessons/ holds no script.", "Write one.")
    for name in names:
        if not any(name in (source.stem, source.stem.partition("_")[0]) for source in sources):
            known = ", ".join(source.stem for source in sources)
            raise typer.BadParameter(f"no lesson called {name}; there are {known}")
    return [
        source
        for source in sources
        if not names or {source.stem, source.stem.partition("_")[0]} & set(names)
    ]


def run_one(
    course: Course, source: Path, output: Path, cell_seconds: float, lesson_seconds: float
) -> Outcome:
    try:
        script = course.script(source)
    except BadScript as error:
        return Outcome(source.stem, 0.0, str(error), "", "")
    return execute.run(
        script,
        source.read_text("utf-8"),
        output,
        folder=course.root / "notebooks",
        cell_seconds=cell_seconds,
        lesson_seconds=lesson_seconds,
    )


def summary(outcomes: list[Outcome]) -> Table:
    """Lesson, seconds, outcome; the page to look at where one failed."""
    passed = sum(outcome.passed for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    table = Table(title=f"{passed} of {len(outcomes)} lessons passed in {seconds:.0f} s")
    table.add_column("lesson", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    table.add_column("outcome", overflow="fold")
    for outcome in outcomes:
        text = "passed" if outcome.passed else escape(f"{outcome.problem}\nsee {outcome.page}")
        style = "" if outcome.passed else "red"
        table.add_row(outcome.lesson, f"{outcome.seconds:.1f}", text, style=style)
    return table
