"""`./course export`, `book`, `similar`: what a teacher takes away."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from commands.board import tell
from commands.grading import COURSE, LabName, Out, expect_records
from grading.define import definition
from kafkalab.errors import CourseError
from kafkalab.files import write_whole

FILES = {
    "moodle": "moodle.csv",
    "canvas": "canvas.csv",
    "gradescope": "gradescope.zip",
    "csv": "marks.csv",
}
HOW = {
    "moodle": 'In Moodle: the assignment, "Upload grading worksheet"; tick "Allow updating records '
    'that have been modified more recently" where marks are there already.',
    "canvas": 'In Canvas: Grades, "Import".',
    "gradescope": 'In Gradescope: the programming assignment, "Configure Autograder", then '
    '"Regrade all submissions".',
}


def export(
    lab: LabName,
    to: Annotated[
        Literal["moodle", "canvas", "gradescope", "csv"], typer.Option(help="Whose form.")
    ],
    table: Annotated[
        Path | None,
        typer.Option(
            help="The table as the platform gave it out (Moodle's grading worksheet, Canvas's "
            "exported gradebook): its rows are filled in, in a copy."
        ),
    ] = None,
    column: Annotated[
        str, typer.Option(help="The platform's column for this lab, if it is not found.")
    ] = "",
    out: Out = COURSE,
) -> None:
    """Write the marks so that a learning platform takes them.

    Late rules and decisions are in them. With the platform's own table everybody is found by the
    platform's number, login or name. Who has no number gets none, and is named; what is excused
    says so in Canvas. Other columns and rows of the platform are not in the file, so that it
    changes nothing else there.
    """
    from grading.book import autograder, spreadsheet
    from grading.book import export as exports
    from grading.book.classbook import ClassBook

    graded = definition.load(lab)
    expect_records(out, graded.name, lab)
    if table is not None and to not in ("moodle", "canvas"):
        raise CourseError(f"For {to} no table is filled in.", "", "Leave --table out.")
    found = ClassBook.read(out).lab(graded.name)
    console = Console(soft_wrap=True, highlight=False)
    tell(console, "look at:", found.unfinished())
    file = out / graded.name / FILES[to]
    if to == "csv":
        write_whole(file, exports.plain(found).text())
    elif to == "gradescope":
        content, filled = autograder.archive(found, graded)
        write_whole(file, content)
        tell(console, "no number", exports.without_number(found))
        console.print(f"{filled} marks are in it.")
    else:
        platforms = spreadsheet.read(table) if table is not None else None
        if to == "moodle":
            done = exports.moodle(found, platforms, column)
        else:
            done = exports.canvas(found, graded, platforms, column)
        tell(console, "no row", done.unmatched)
        tell(console, "no number", done.without)
        if not done.filled:
            raise CourseError("There is no mark to export.", "", f"See ./course review {lab}")
        write_whole(file, done.table.text())
        console.print(f"{done.filled} marks are in it.")
    console.print(escape(str(file)))
    if to in HOW:
        console.print(HOW[to])


def book(out: Out = COURSE) -> None:
    """Show all labs of the class in one table, and write it as book.csv and book.html.

    With a roster a person is one row, whatever platform each lab came from. Without one, people are
    joined by the number of Canvas, Blackboard or Gradescope, else by name.
    """
    from grading.book.allbook import book as made
    from grading.book.classbook import ClassBook

    course = ClassBook.read(out)
    if not course.labs():
        raise CourseError(f"Nothing is graded in {out}.", "", "Run ./course grade LAB PATH")
    found = made(course)
    table = found.table()
    shown = Table(*table.header)
    for row in table.rows:
        shown.add_row(*(escape(cell) for cell in row))
    console = Console(soft_wrap=True)
    console.print(shown)
    for lab in found.labs:
        tell(console, f"look at: {lab.lab}:", lab.problems())
    write_whole(out / "book.csv", table.text())
    write_whole(out / "book.html", found.html())
    console.print(escape(str(out / "book.html")), highlight=False)


def similar(
    lab: LabName,
    least: Annotated[
        float, typer.Option(min=0, max=1, help="List pairs that share so much, from 0 to 1.")
    ] = 0.5,
    hide_names: Annotated[
        bool, typer.Option("--hide-names", help="Say student 1, student 2 in place of names.")
    ] = False,
    out: Out = COURSE,
) -> None:
    """List similar answers, for you to look at. It changes no mark.

    The code of the lab and each student's own values are taken out first, and what many of the
    class wrote. Other names, comments and layout make no difference.
    """
    from grading.book import similar as alike
    from grading.book.classbook import ClassBook
    from grading.keep.store import Store

    graded = definition.load(lab)
    expect_records(out, graded.name, lab)
    found = ClassBook.read(out).lab(graded.name)
    pairs = alike.similar(graded, found, Store(out, graded.name), least)
    console = Console(soft_wrap=True, highlight=False)
    for pair in alike.without_names(pairs) if hide_names else pairs:
        tasks = ", ".join(map(str, pair.tasks))
        console.print(escape(f"{pair.share:.0%}  {pair.one} and {pair.other}: tasks {tasks}"))
    what = "pair" if len(pairs) == 1 else "pairs"
    console.print(f"{len(pairs)} {what} to look at. Their code is on the students' pages.")
