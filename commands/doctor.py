"""`./course doctor`: what is wrong here, and what mends it."""

from typing import Annotated

import typer
from rich.console import Console

from kafkalab.setup import doctor as examination
from kafkalab.setup import listeners

MARKS = {"good": "[green]ok  [/]", "note": "[yellow]note[/]", "bad": "[red]bad [/]"}


def doctor(
    address: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Follow a client to this address, step by step."),
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Look at everything the course needs; say what is wrong, why, and the command that mends it.

    Ends with 1 where something keeps lessons from running.
    """
    findings = []
    console = Console(highlight=False, soft_wrap=True)
    for finding in listeners.trace(address) if address else examination.examine():
        findings.append(finding)
        if not json:
            console.print(f"{MARKS[finding.level]} [bold]{finding.subject}[/]", end="  ")
            console.print(finding.seen, markup=False)
            for line in filter(None, (finding.why, finding.mend)):
                console.print(f"       {line}", markup=False)
    if json:
        console.print(examination.as_json(findings), markup=False)
    if any(finding.level == "bad" for finding in findings):
        raise typer.Exit(1)
