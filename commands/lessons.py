"""`./course build` and `./course run`: from the source of the lessons to proof that they work."""

import json as json_format
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from authoring import execute
from authoring.build import Course
from authoring.execute import LessonRun
from authoring.percent import BadScript, Problem
from authoring.sizes import FIGURES, Sizes
from kafkalab.errors import CourseError

OUTPUT = Path("build", "run")
HEADINGS = {
    "words": "words",
    "cells": "cells",
    "longest_cell": "lines",
    "ideas": "ideas",
    "terms": "terms",
    "parallel_assignments": "pairs",
    "tuple_asserts": "tuples",
}
LEGEND = """\
▲ is above the number in the heading: more than one sitting holds.
cells: of code, as a reader has them; lines: of the longest; terms: new ones, in bold;
pairs: assignments in parallel; tuples: compared by an assert.
remarks: on prose, words and tone; ./course build --remarks lists them."""


def build(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say what differs from the scripts.")
    ] = False,
    sizes: Annotated[
        bool, typer.Option("--sizes", help="Write nothing; show how large each page is.")
    ] = False,
    remarks: Annotated[
        bool,
        typer.Option("--remarks", help="Write nothing; list what could be said better, and where."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="With --sizes: print it as JSON.")] = False,
) -> None:
    """Write notebooks/ and labs/ from the scripts, and the tables made from them.

    Then show how large each page is, and how much there is to remark. Neither ever fails a build.
    """
    if check + sizes + remarks > 1 or (json and not sizes):
        raise typer.BadParameter("one of --check, --sizes and --remarks; --json with --sizes")
    course = Course()
    try:
        problems = course.differences() if check else []
        changed = [] if check or sizes or remarks else course.write()
        advice = {} if check else course.remarks()
        measured = [] if check else course.sizes()
    except BadScript as error:
        _refuse(error.problems)
    if problems:
        _refuse(problems)
    console = Console(soft_wrap=True)
    if json:
        json_format.dump([asdict(page) for page in measured], sys.stdout, indent=1)
        print()
    elif remarks:
        for problem in (problem for page in advice.values() for problem in page):
            console.print(escape(str(problem)), highlight=False)
    else:
        for path in changed:
            console.print(escape(str(path)), highlight=False)
        if not (changed or sizes):
            console.print("Everything is built.")
        if measured:
            console.print(table_of_sizes(measured, {page: len(advice[page]) for page in advice}))


def _refuse(problems: list[Problem]) -> NoReturn:
    console = Console(stderr=True, soft_wrap=True)
    for problem in problems:
        console.print(escape(str(problem)), highlight=False)
    console.print(f"{len(problems)} to mend.")
    raise typer.Exit(1)


def table_of_sizes(measured: list[Sizes], remarks: dict[str, int]) -> Table:
    """A line for each page; what is above a figure is marked."""
    table = Table(
        caption=LEGEND, caption_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=0
    )
    table.add_column("page", no_wrap=True, max_width=26)
    for name, heading in HEADINGS.items():
        table.add_column(f"{heading}\n{FIGURES[name]:,}", justify="right", no_wrap=True)
    table.add_column("remarks", justify="right", no_wrap=True)
    for page in measured:
        values, above = asdict(page), page.above(FIGURES)
        cells = [
            f"[yellow]▲{values[name]:,}[/]" if name in above else f"{values[name]:,}"
            for name in HEADINGS
        ]
        table.add_row(page.page, *cells, str(remarks[page.page] or ""))
    return table


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
    page: Annotated[
        bool, typer.Option("--page", help="Run exactly what a reader has, without the proofs.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the executed pages go.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the outcomes as JSON.")] = False,
) -> None:
    """Run lessons with their proofs, without a screen; what was run goes to build/run/.

    The HTML there is the page as a reader sees it; the notebook beside it holds the proofs too.
    One that fails does not keep the others from running. Exit code 1 if any failed.
    """
    course = Course()
    sources = chosen(course, lessons or [])
    environment = {"KAFKALAB_ENGINE": engine} if engine else {}
    console = Console(stderr=json)
    outcomes = []
    pages = output.absolute() if output else course.root / OUTPUT
    with console.status("") as status:
        for number, source in enumerate(sources, start=1):
            status.update(f"{source.stem} ({number} of {len(sources)})")
            outcome = run_one(
                course,
                source,
                pages,
                page=page,
                environment=environment,
                cell_seconds=cell_seconds,
                lesson_seconds=lesson_seconds,
            )
            outcomes.append(outcome)
            word = "[green]passed[/]" if outcome.passed else "[red]failed[/]"
            console.print(f"{word} {outcome.lesson} in {outcome.seconds:.1f} s", highlight=False)
    if json:
        json_format.dump([outcome.as_dict() for outcome in outcomes], sys.stdout, indent=1)
        print()
    else:
        console.print(summary(outcomes))
        console.print(f"The pages are in {pages}", highlight=False, soft_wrap=True)
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
    course: Course, source: Path, output: Path, *, page: bool, **settings: Any
) -> LessonRun:
    """One lesson; the settings are those of authoring.execute.run."""
    try:
        script = course.script(source)
        navigation = course.navigation(script) if page else ""
    except BadScript as error:
        return LessonRun(source.stem, 0.0, str(error), "", "")
    return execute.run(
        script,
        source.read_text("utf-8"),
        output,
        folder=course.root / "notebooks",
        proofs=not page,
        navigation=navigation,
        **settings,
    )


def summary(outcomes: list[LessonRun]) -> Table:
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
