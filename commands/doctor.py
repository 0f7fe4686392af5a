"""`./course doctor`: what is wrong here, and what mends it."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from rich.console import Console

from commands.verbs import VERBS
from kafkalab.setup import listeners
from kafkalab.setup.doctor import examination
from kafkalab.setup.doctor.diagnosis import Diagnosis, as_json

MARKS = {
    "good": "[green]ok  [/]",
    "note": "[yellow]note[/]",
    "bad": "[red]bad [/]",
    "untried": "[dim]-   [/]",
}


def doctor(
    address: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Follow a client to this address, step by step."),
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Look at everything the course needs, then try it: a broker, Spark, JupyterLab.

    Says what is wrong, why, and the command that mends it. Takes half a minute; what it starts it
    ends again. Ends with 1 where something keeps lessons from running.
    """
    findings: list[Diagnosis] = []
    with _progress() as announce:
        for finding in listeners.trace(address) if address else _everything(announce):
            findings.append(finding)
            if not json:
                _tell(finding)
    if json:
        Console(highlight=False, soft_wrap=True, emoji=False).print(as_json(findings), markup=False)
    elif not address:
        print(closing(findings))
    if any(finding.level == "bad" for finding in findings):
        raise typer.Exit(1)


def closing(findings: list[Diagnosis]) -> str:
    """What all of it means for somebody who wants to begin."""
    bad = [finding.subject for finding in findings if finding.level == "bad"]
    if bad:
        return f"Lessons do not run here yet: mend {', '.join(bad)}."
    return "Lessons run here. Open the course: ./course lab"


def _everything(announce: Callable[[str], object]) -> Iterator[Diagnosis]:
    if "grade" in VERBS:  # not in the student edition
        yield sandbox()
    yield from examination.examine(announce)


def sandbox() -> Diagnosis:
    """Whether hand-ins can be graded without trust; nothing that a lesson needs."""
    from grading.sandbox import bubblewrap, proof

    try:
        leaks = proof.leaks()
    except bubblewrap.NoSandbox as error:
        return Diagnosis("sandbox", "note", error.what, error.why, error.mend)
    if leaks:
        return Diagnosis("sandbox", "bad", f"what runs in it {'; '.join(leaks)}", "",
                         bubblewrap.OTHER_WAYS)  # fmt: skip
    kept = "hand-ins are graded in it; no network, file or process of yours is in reach: tried"
    return Diagnosis("sandbox", "good", kept)


def _tell(finding: Diagnosis) -> None:
    console = Console(highlight=False, soft_wrap=True, emoji=False)
    console.print(f"{MARKS[finding.level]} [bold]{finding.subject}[/]", end="  ")
    console.print(finding.seen, markup=False)
    for line in filter(None, (finding.why, finding.mend)):
        console.print(f"       {line}", markup=False)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], object]]:
    """What tells the person who waits what is tried: a line that moves, or one for each attempt."""
    console = Console(stderr=True, highlight=False, emoji=False)
    if not console.is_terminal:
        yield lambda text: console.print(f"{text} …", markup=False, soft_wrap=True)
        return
    with console.status("Looking at this machine") as status:
        yield status.update
