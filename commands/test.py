"""`./course test`: the suite, run by pytest, whose closing line and exit code stand."""

import os
import sys
from typing import Annotated

import psutil
import typer

from kafkalab.places import repository

# What each needs: see the markers in pyproject.toml.
NOT_QUICK = ("cluster", "spark", "docker", "browser", "process", "slow")
# Clusters are safe side by side. A worker takes 1.5 GB, and most of them less than half a core:
# lesson 01 computes for 21 of its 60 seconds, lab 01 for 61 of 141, and else they wait for Kafka,
# Spark and Docker (lab 05 does not: 278 of 344). So a worker more than there are cores finds
# something to do; with two more, two cores were never idle, and what waits for time waited longer.
# Quick tests wait for little: each worker beyond the cores only collects again.
MOST_WORKERS = 3
MORE_THAN_CORES = 1
BYTES_A_WORKER = 3 << 30
# Options of pytest and of ours whose value is the next word; any may also look like a path.
WITH_VALUE = {
    *("-c", "-k", "-m", "-n", "-o", "-p", "-r", "-W", "--rest", "--tb", "--dist", "--maxfail"),
    *("--basetemp", "--color", "--confcutdir", "--deselect", "--durations", "--durations-min"),
    *("--hypothesis-profile", "--hypothesis-seed", "--ignore", "--ignore-glob", "--junitxml"),
    *("--log-level", "--override-ini", "--rootdir", "--timeout", "--verbosity"),
}


def test(
    context: typer.Context,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only what needs no cluster: half a minute.")
    ] = False,  # noqa: PT028 (a verb, not a test)
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also each wrong answer, each cell twice, the pages on Docker, the installer.",
        ),
    ] = False,  # noqa: PT028
    ci: Annotated[
        bool,
        typer.Option(
            "--ci",
            help="Of what --all adds, what there is time for in CI: first what changed.",
        ),
    ] = False,  # noqa: PT028
    changed: Annotated[
        str | None,
        typer.Option(
            metavar="COMMIT", help="Only what depends on files that differ from this commit."
        ),
    ] = None,  # noqa: PT028
) -> None:
    """Run the tests. Other arguments go to pytest; paths count from the course's folder."""
    if quick + everything + ci > 1:
        raise typer.BadParameter("one of --quick, --all and --ci at a time")
    if quick and any(word.startswith("-m") for word in context.args):
        raise typer.BadParameter("--quick is a choice by -m itself: choose by -k or by a path")
    # No test is a coroutine; that plugin comes with JupyterLab, and each process would import it.
    command = [sys.executable, "-m", "pytest", "-p", "no:anyio"]
    if quick:
        command += ["-m", " and ".join(f"not {marker}" for marker in NOT_QUICK)]
    if not named(context.args):
        if quick:
            command += ["--hypothesis-profile", "quick"]
        command += ["--rest", "all" if everything else "ci" if ci else "none"]
        command += ["-n", str(workers(quick)), "--dist", "loadscope", "--no-loadscope-reorder"]
    if changed:
        command += ["--changed", changed]
    # Hundreds of processes import our modules and, with rewritten asserts, the tests.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.chdir(repository())
    sys.stdout.flush()
    os.execv(sys.executable, [*command, *context.args])


def named(arguments: list[str]) -> list[str]:
    """Files, folders and tests among the arguments: neither options nor the values of these."""
    before = ["", *arguments]
    return [
        word
        for word, option in zip(arguments, before, strict=False)
        if not word.startswith("-") and option not in WITH_VALUE
    ]


def workers(is_quick: bool = False) -> int:
    """How many tests may run side by side on this machine."""
    room = psutil.virtual_memory().total // BYTES_A_WORKER
    more = 0 if is_quick else MORE_THAN_CORES
    return int(max(1, min(MOST_WORKERS, (os.cpu_count() or 1) + more, room)))
