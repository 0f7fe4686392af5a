"""`./course progress`: how far the learner is."""

import itertools

from rich.console import Console
from rich.table import Table

from kafkalab.places import repository
from kafkalab.setup.contents import COLUMNS, in_words
from kafkalab.setup.way import following, steps


def progress() -> None:
    """Show how far you are on each page, and what comes next.

    It is kept in work/progress.json. Nothing is sent anywhere.
    """
    found = steps(repository(), repository() / "work")
    console = Console(highlight=False)
    table = Table(*COLUMNS, box=None)
    for part, stages in itertools.groupby(found, key=lambda step: step.part):
        table.add_row(f"[bold]{part}[/]")
        for step in stages:
            table.add_row(*in_words(step))
    console.print(table)
    comes = following(found)
    if comes is None:
        console.print("You have been everywhere.")
    else:
        console.print(f"Next: {comes.title} (./course lab, then work/{comes.page})", markup=False)
