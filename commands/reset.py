"""`./course reset`: a fresh page in the place of one that was worked on."""

from typing import Annotated

import typer
from rich.console import Console

from commands.told import moves
from kafkalab.notebook import kept
from kafkalab.places import repository
from kafkalab.setup import copies


def reset(
    name: Annotated[str, typer.Argument(help="A lesson or a lab: 03, lab03, or its whole name.")],
) -> None:
    """Give a lesson or a lab a fresh page. What you had is kept in work/older.

    Its predictions are asked again.
    """
    work = repository() / "work"
    done = copies.reset(repository(), work, name)
    kept.forget(work, done.page.stem)
    console = Console(highlight=False, soft_wrap=True, markup=False)
    for sentence in moves(done.carried):
        console.print(sentence)
    if done.aside is None:
        console.print(f"work/{done.page} is as the course gives it out.")
        return
    console.print(f"work/{done.page} is fresh. What you had is in work/{done.aside}.")
    console.print("Where the page is open in JupyterLab: File, Reload Notebook from Disk.")
