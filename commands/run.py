"""`./course run`: lessons from top to bottom, without a screen."""

import json as json_format
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from authoring import execute
from authoring.build import Course
from authoring.execute import LessonRun
from authoring.percent import BadScript
from kafkalab import engine as engines
from kafkalab.errors import CourseError

OUTPUT = Path("build", "run")


def run(
    lessons: Annotated[
        list[str] | None,
        typer.Argument(help="Numbers or names, as in 08 or 08_durability; without any, all."),
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
        bool,
        typer.Option("--page", help="Run exactly what a reader has, also where there are proofs."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the executed pages go.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the outcomes as JSON.")] = False,
) -> None:
    """Run lessons without a screen; what was run goes to build/run/.

    With their proofs, where the course holds its sources. The HTML there is the page as a reader
    sees it; the notebook beside it holds the proofs too. One that fails does not keep the others
    from running. Exit code 1 if any failed.
    """
    course = Course()
    sources = chosen(course, lessons or [])
    engines.expect(engines.chosen(engine))  # told now, not once for each lesson
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
    """The lessons with these numbers or names, in the order of the course: their scripts.

    In a student edition, which has none, their notebooks.
    """
    sources = course.lessons() or sorted((course.root / "notebooks").glob("*.ipynb"))
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
    if source.suffix == ".ipynb":
        return execute.run_page(source, output, folder=source.parent, **settings)
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
