"""`./course release`: the course as students get it."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from commands.edition import release as edition
from commands.edition.contents import edition_of
from commands.edition.withheld import leaks
from kafkalab.errors import CourseError
from kafkalab.places import repository

MOST_NAMED = 3


def release(
    target: Annotated[
        Path, typer.Argument(metavar="FOLDER|ZIP", help="A new folder, or a name with .zip.")
    ],
) -> None:
    """Write the student edition: the course without what only teachers and authors have.

    Masters, hidden checks, wrong answers, solutions, the sources of lessons and their proofs stay
    out. Before anything is written, all that goes in is searched for their text.
    """
    root = repository()
    made = edition_of(root)
    words = f"Looking in {len(made.files)} files for what students must not get."
    Console(stderr=True, highlight=False).print(words)
    if found := list(leaks(root, made.files)):
        raise CourseError(
            "Nothing was written: students would get what they must not.",
            "; ".join(found[:MOST_NAMED])
            + (f"; and {len(found) - MOST_NAMED} more" if found[MOST_NAMED:] else ""),
            "Take it out there. What they may know can stand in the notebook itself.",
        )
    edition.write(made.files, target)
    labs = ", ".join(f"lab {name.removeprefix('lab')[:2]}" for name in made.labs)
    Console(highlight=False, soft_wrap=True).print(
        f"{target}: edition {made.version}, {len(made.files)} files, {labs}", markup=False
    )
