"""`./course pictures`: the pictures of the README, from real runs."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import typer
from rich.console import Console

from authoring.build import Course
from authoring.pictures import FOLDER, Chart, Taken, hang, take
from commands.run import run_one
from kafkalab.errors import CourseError

CHARTS = (
    Chart("record", "start", "diagrams.record(", "Lesson 00: what you give, and what comes back."),
    Chart(
        "leaders",
        "replication",
        "replication.through_a_kill(",
        "Lesson 06: a broker dies, and what a reader sees meanwhile.",
    ),
    Chart(
        "loss",
        "durability",
        "durability.fates(",
        "Lesson 08: a hundred acknowledged records, by setting.",
    ),
)
PANEL = "tests/content/test_panel_in_jupyterlab.py"
READMES = (Path("README.md"), Path("commands/edition/README.md"))


def pictures() -> None:
    """Run the lessons that draw them and the panel in a browser; then write them all.

    Nothing is written unless all of it went well. Numbers in the pictures are those of this run.
    """
    course = Course()
    console = Console()
    sources = {source.stem.partition("_")[2]: source for source in course.lessons()}
    with tempfile.TemporaryDirectory() as folder:
        taken = []
        for chart in CHARTS:
            console.print(f"Running {sources[chart.lesson].stem}", highlight=False)
            outcome = run_one(course, sources[chart.lesson], Path(folder), page=True)
            if not outcome.passed:
                console.print(outcome.problem, highlight=False)
                raise typer.Exit(1)
            taken.append(take(chart, Path(outcome.notebook)))
        console.print("Pressing kill in a browser", highlight=False)
        taken.append(_panel(course.root, Path(folder, "panel.png")))
    hang(course.root, taken, [course.root / readme for readme in READMES])
    console.print(f"The pictures are in {FOLDER}", highlight=False)


def _panel(root: Path, picture: Path) -> Taken:
    """The test of the panel is a learner who kills a broker; it keeps what it sees then."""
    command = [sys.executable, "-m", "pytest", "-q", "-n0", PANEL]
    environment = os.environ | {"KAFKALAB_PICTURE": str(picture)}
    run = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=300
    )
    if run.returncode or not picture.exists():
        raise CourseError(
            "The panel has no picture.",
            f"A browser did not press kill: {run.stdout.splitlines()[-1:]}",
            f"Look at it with ./course test {PANEL}",
        )
    return Taken(
        "panel",
        picture.read_bytes(),
        "A live view of three brokers in JupyterLab, one of them killed a moment ago: its buttons "
        "offer to start it, and a line says which broker leads now.",
        "The panel: break a cluster by hand, and see who takes over.",
    )
