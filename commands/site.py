"""`./course site`: the lessons for those who look from outside."""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import nbformat
import typer
from rich.console import Console

from authoring import contents
from authoring.build import Course
from authoring.percent import BadScript
from authoring.site import executed, rendered
from authoring.site.folder import expect_free_or_a_site, write
from authoring.site.rendered import Entry, Part
from commands.run import OUTPUT, run_one
from kafkalab.errors import CourseError
from kafkalab.setup import way


def site(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new one, or an older site.")],
) -> None:
    """Write the lessons with what they showed as a site: contents, pages, search.

    Outputs come from build/run/; what is missing there, or was run from another version of the
    page, is run now. The site is a folder of files: it needs no network and no web server.
    """
    expect_free_or_a_site(folder)
    course = Course()
    try:
        products = course.products()
        told = [contents.page(script) for script in course.scripts()]
    except BadScript as error:
        raise CourseError("No site was written.", str(error), "Mend it: ./course build") from None
    lessons = {page.notebook.stem: page for page in told if not page.lab}
    entries = {
        name: Entry(name, f"{page.number} {page.title}", page.question, page.minutes)
        for name, page in lessons.items()
    }
    parts = _parts(entries.values())
    console = Console(highlight=False, soft_wrap=True)
    found: list[rendered.Section] = []
    files = {}
    for name, entry in entries.items():
        page = nbformat.reads(products[lessons[name].notebook], 4)
        html = rendered.page(_shown(course, name, page, console), entry, parts)
        files[entry.file] = html
        found += rendered.sections(html, entry)
    files[rendered.INDEX] = rendered.contents(parts)
    files["search-index.js"] = rendered.search_index(found)
    files |= {name: rendered.asset(name) for name in ("site.css", "search.js")}
    write(files, folder)
    console.print(
        f"Lessons: {len(entries)}. Open {(folder / rendered.INDEX).absolute()}", markup=False
    )


def _shown(
    course: Course, name: str, page: nbformat.NotebookNode, console: Console
) -> nbformat.NotebookNode:
    """The page with its outputs; the lesson is run where there are none of this version."""
    file = course.root / OUTPUT / f"{name}.ipynb"
    if file.exists():
        shown = executed.together(page, nbformat.read(file, 4))
        if shown is not None:
            return shown
    (source,) = (source for source in course.lessons() if source.stem == name)
    with console.status(f"{name} is run"):
        outcome = run_one(course, source, file.parent, page=False)
    shown = executed.together(page, nbformat.read(file, 4)) if outcome.passed else None
    if shown is None:
        raise CourseError(
            f"No site was written: lesson {name} failed.", outcome.problem, f"See {outcome.page}"
        )
    console.print(f"{name} was run, in {outcome.seconds:.0f} s", markup=False)
    return shown


def _parts(entries: Iterable[Entry]) -> list[Part]:
    """The lessons in their order, under the headings of the course's parts."""
    grouped = itertools.groupby(entries, key=lambda entry: way.part(entry.name[:2]))
    return [Part(heading, tuple(inside)) for heading, inside in grouped]
