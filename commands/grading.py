"""`./course check`, `grade`, `verify`, `report`: from a notebook to points."""

import datetime
import json as json_format
import os
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from grading.define import definition
from grading.define.definition import Definition
from grading.judge.outcome import IN_WORDS, OURS
from grading.run.quick_import import without_web_grammar
from kafkalab import engine as engines
from kafkalab.errors import CourseError

if TYPE_CHECKING:
    from grading.keep.record import AttemptRecord
    from grading.run.lanes import Progress
    from grading.run.surroundings import Surroundings

without_web_grammar()

COURSE = Path("work", "grades")
PROOFS = Path("work", "proofs")
FAULTS = 3  # exit code: the grader could not judge all of it. Marks never change the exit code.
LabName = Annotated[str, typer.Argument(help="Number or name, as in 02 or lab02_iris.")]
Jobs = Annotated[int, typer.Option(min=1, help="How many at once; each has a cluster of its own.")]
Out = Annotated[Path, typer.Option(help="The course folder: records, pages, the secret of seeds.")]
Json = Annotated[bool, typer.Option("--json", help="Print what came out as JSON.")]
Trust = Annotated[
    bool, typer.Option("--trust-students", help="No sandbox: hand-ins run with your rights.")
]
EngineName = Annotated[
    Literal["process", "docker"] | None,
    typer.Option(help="What runs the clusters; without it KAFKALAB_ENGINE or process."),
]


def check(
    notebook: Annotated[Path, typer.Argument(help="Your notebook.")], engine: EngineName = None
) -> None:
    """Check your own lab as it will be graded: a fresh kernel, the public checks, a hint."""
    from grading.practice import own_check as own

    _choose(engine)
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


def grade(
    lab: LabName,
    path: Annotated[Path, typer.Argument(help="A notebook, a folder or a zip of hand-ins.")],
    jobs: Jobs = 1,
    rerun: Annotated[bool, typer.Option("--rerun", help="Run also what is graded.")] = False,
    out: Out = COURSE,
    json: Json = False,
    engine: EngineName = None,
    trust_students: Trust = False,
    wheels: Annotated[
        Path | None, typer.Option(help="A folder of wheels that hand-ins may install.")
    ] = None,
) -> None:
    """Grade hand-ins, each in a sandbox. A run that was cut off goes on where it stopped.

    Exit code 3 if a fault of the grader left a hand-in without points.
    """
    from grading.define.seed import course_secret
    from grading.handin.intake import collect
    from grading.keep import report
    from grading.keep.record import Store
    from grading.keep.rescore import rescore
    from grading.run.lanes import Lanes, plan

    _choose(engine)
    graded = definition.load(lab)
    around = _surroundings(graded, trust_students, wheels)
    intake = collect(path, graded.name)
    store = Store(out, graded.name)
    rescore(graded, store)
    work, records = plan(graded, intake.submissions, store, course_secret(out), rerun)
    console = Console(stderr=json, soft_wrap=True)
    for line in intake.ignored:
        console.print(f"[yellow]left aside[/] {escape(line)}", highlight=False)
    if records:
        console.print(f"{len(records)} of {len(intake.submissions)} are graded already.")
    if reasons := Counter(one.why for one in work):
        told = ", ".join(f"{count} {why}" for why, count in reasons.items())
        console.print(f"{len(work)} to run: {told}.", highlight=False)
    board = Board(console, len(work))
    with board.live:
        records += Lanes(graded, store, board.tell, around).run(work, jobs)
    page = report.write(graded, store)
    records.sort(key=lambda record: record.student)
    if json:
        json_format.dump([asdict(record) for record in records], sys.stdout, indent=1)
    else:
        _print_class(console, graded, records)
        console.print(f"The class table is {page}", highlight=False)
    if any(record.outcome in OURS for record in records):
        raise typer.Exit(FAULTS)


def verify(
    lab: LabName,
    repeat: Annotated[int, typer.Option(min=1, help="Prove it so often; counts flakes.")] = 1,
    whole: Annotated[bool, typer.Option("--whole", help="Run wrong answers to the end.")] = False,
    jobs: Jobs = 1,
    json: Json = False,
    engine: EngineName = None,
    trust_students: Trust = False,
) -> None:
    """Prove that a lab judges rightly, in the sandbox in which hand-ins are graded.

    The reference reaches all points, and what the lab shows on the way is true; the blank notebook
    reaches its floor; each wrong answer fails the checks that it names, and beyond them only those
    that it says may fail as well; every check is failed by some wrong answer. The page of the
    reference is then in build/run.

    A run of wrong answers ends after the last check that they name; with --whole it does not.
    """
    from grading.prove.verify import verify as prove

    _choose(engine)
    proven = definition.load(lab)
    around = _surroundings(proven, trust_students)
    keep = PROOFS / f"{proven.name}-{datetime.datetime.now():%Y-%m-%d-%H-%M-%S}"
    pages = proven.place.root / "build" / "run"
    console = Console(stderr=json, soft_wrap=True)
    board = Board(console, None)
    with board.live:
        proof = prove(proven, keep, repeat, jobs, board.tell, pages, whole, around=around)
    if json:
        json_format.dump(asdict(proof), sys.stdout, indent=1)
    if repeat > 1:
        table = Table("check", "as expected", title=f"{repeat} repeats")
        for name, tally in proof.checks.items():
            table.add_row(name, f"{tally.right} of {tally.all}")
        console.print(table)
    for problem in proof.problems:
        console.print(f"[red]wrong[/] {escape(problem)}", highlight=False)
    runs = len(proof.records)
    if proof.problems:
        if keep.exists():
            console.print(f"What was seen in these runs is in {keep}", highlight=False)
        console.print(f"{proven.name} is not proven: {len(proof.problems)} to mend.")
        raise typer.Exit(1)
    console.print(f"{proven.name} is proven: {len(proof.checks)} checks in {runs} runs.")


def report(lab: LabName, out: Out = COURSE) -> None:
    """Write the pages of students and the class table from the records."""
    from grading.keep import report as pages
    from grading.keep.record import Store

    graded = definition.load(lab)
    expect_records(out, graded.name, lab)
    store = Store(out, graded.name)
    console = Console(soft_wrap=True)
    console.print(str(pages.write(graded, store)), highlight=False)


def expect_records(course: Path, name: str, lab: str) -> None:
    """Refuse a course folder without records of the lab; lab: its name as it was typed."""
    from grading.keep.record import Store

    if not (course / name).is_dir() or not Store(course, name).class_keys():
        raise CourseError(
            f"Nothing of {name} is graded in {course}.", "", f"Run ./course grade {lab} PATH"
        )


class Board:
    """A line for each lane while hand-ins run, a line for each hand-in that is done."""

    def __init__(self, console: Console, total: int | None) -> None:
        self.console = console
        self.total = total
        self.done = 0
        self.lanes: dict[int, str] = {}
        self.live = Live(console=console, refresh_per_second=4, transient=True)

    def tell(self, progress: "Progress") -> None:
        """Called from the threads of the lanes."""
        if progress.record is not None:
            self.done += 1
            of = "" if self.total is None else f" of {self.total}"
            self.console.print(f"{self.done}{of} {_line(progress.record)}", highlight=False)
        event = progress.event
        words = {"start": "begins", "checks": "checked", "end": ""}.get(event["event"])
        if event["event"] == "cell":
            words = f"task {event['task']}" if event["task"] else "set-up"
        self.lanes[progress.lane] = f"{escape(progress.student)}: {words}" if words else "free"
        lines = [f"lane {number}  {text}" for number, text in sorted(self.lanes.items())]
        self.live.update("\n".join(lines))


def _line(record: "AttemptRecord") -> str:
    from grading.run.lanes import overhead

    assert record.outcome is not None, "the attempt is over"
    colour = "red" if record.outcome in OURS else "green" if record.outcome == "pass" else "yellow"
    points = f"{number(record.reached)} of {number(record.full)}"
    beyond = overhead(record)
    took = f", {beyond:.1f} s beyond its cells" if beyond is not None else ""
    return f"{escape(record.student)}: [{colour}]{IN_WORDS[record.outcome]}[/], {points}{took}"


def _print_class(console: Console, lab: Definition, records: "list[AttemptRecord]") -> None:
    table = Table("student", "outcome", "points", title=lab.title)
    for record in records:
        points = f"{number(record.reached)} of {number(record.full)}"
        words = f"{record.outcome}: {record.why[:60]}" if record.why else f"{record.outcome}"
        table.add_row(escape(record.student), escape(words), points)
    console.print(table)
    outcomes = [record.outcome for record in records]
    counted = ", ".join(f"{outcomes.count(one)} {one}" for one in dict.fromkeys(outcomes))
    console.print(f"{len(records)} hand-ins: {counted}", highlight=False)


def number(points: float | None) -> str:
    return "?" if points is None else f"{points:g}"


def _surroundings(lab: Definition, is_trusted: bool, wheels: Path | None = None) -> "Surroundings":
    """Where hand-ins run. Without a sandbox only if the teacher says so."""
    from grading.run.surroundings import Surroundings
    from grading.sandbox import bubblewrap
    from kafkalab.java import jars

    if not is_trusted:
        bubblewrap.require()
        if lab.profile != definition.NO_CLUSTER:
            for name in jars.names():
                jars.jars(name)  # fetched now: from a sandbox there is no network
    if wheels is not None and not any(wheels.glob("*.whl")):
        raise CourseError(
            f"There are no wheels in {wheels}.", "", "Fill it: pip download --dest FOLDER PACKAGE"
        )
    return Surroundings(not is_trusted, wheels and wheels.resolve())


def _choose(name: str | None) -> None:
    """Clusters and kernels inherit it. What it lacks is told now, not once for each hand-in."""
    if name:
        os.environ["KAFKALAB_ENGINE"] = name
    engines.expect(engines.chosen())
