"""`./course test`: the suite, run by pytest, whose closing line and exit code stand."""

import os
import sys
from typing import Annotated

import typer

from kafkalab.places import repository

NOT_QUICK = ("cluster", "spark", "docker", "browser", "slow")


def test(
    context: typer.Context,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only what needs no cluster: about a minute.")
    ] = False,  # noqa: PT028 (a verb, not a test)
) -> None:
    """Run the tests. Other arguments go to pytest; paths count from the course's folder."""
    command = [sys.executable, "-m", "pytest"]
    if quick:
        command += ["-m", " and ".join(f"not {marker}" for marker in NOT_QUICK)]
    os.chdir(repository())
    sys.stdout.flush()
    os.execv(sys.executable, [*command, *context.args])
