"""`./course check`: the learner's own lab, as it will be graded."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from commands.attempts import FAULTS, EngineName, choose
from grading.judge.outcome import OURS


def check(
    notebook: Annotated[Path, typer.Argument(help="Your notebook.")], engine: EngineName = None
) -> None:
    """Check your own lab as it will be graded: a fresh kernel, the public checks, a hint."""
    from grading.practice import own_check as own

    choose(engine)
    console = Console(soft_wrap=True)
    with console.status("starting") as status:
        assessment, notes = own.check(notebook, status.update)
    for note in notes:
        console.print(f"[yellow]note[/] {escape(note)}", highlight=False)
    for text in assessment.as_lines():
        console.print(escape(text), highlight=False)
    for step in assessment.next:
        console.print(f"\n{escape(str(step))}", highlight=False)
        if step.number < step.of:
            console.print(f"In the notebook, lab.check({step.task}) tells the next one.")
    if any(line.result.outcome in OURS for line in assessment.lines):
        raise typer.Exit(FAULTS)
