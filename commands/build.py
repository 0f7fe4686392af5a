"""`./course build`: from the sources of lessons and labs to what is given out."""

import json as json_format
import sys
from dataclasses import asdict
from typing import Annotated, NoReturn

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from authoring.build import Course
from authoring.percent import BadScript, Problem
from authoring.sizes import FIGURES, Sizes

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
