"""`./course grade`, `verify`, `report`: from hand-ins to points."""

import datetime
import json as json_format
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from commands.attempts import FAULTS, EngineName, choose
from commands.board import Board, print_class, tell_problems
from grading.define import definition
from grading.judge.outcome import OURS
from kafkalab.errors import CourseError

if TYPE_CHECKING:
    from grading.run.fork_server import ForkServer
    from grading.run.surroundings import Surroundings

COURSE = Path("work", "grades")
PROOFS = Path("work", "proofs")
LabName = Annotated[str, typer.Argument(help="Number or name, as in 02 or lab02_iris.")]
Jobs = Annotated[int, typer.Option(min=1, help="How many at once; each has a cluster of its own.")]
Out = Annotated[Path, typer.Option(help="The course folder: records, pages, the secret of seeds.")]
Json = Annotated[bool, typer.Option("--json", help="Print what came out as JSON.")]
Trust = Annotated[
    bool, typer.Option("--trust-students", help="No sandbox: hand-ins run with your rights.")
]


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
    roster: Annotated[
        Path | None, typer.Option(help="A table of your class; is kept as students.csv.")
    ] = None,
) -> None:
    """Grade hand-ins, each in a sandbox. A run that was cut off goes on where it stopped.

    With students.csv in the course folder, also tells who is missing and whose hand-in matches
    nobody. Exit code 3 if a fault of the grader left a hand-in without points.
    """
    from commands import surroundings
    from grading.run import fork_server

    choose(engine)
    graded = definition.load(lab)
    around = surroundings.chosen(graded, trust_students, wheels)
    with fork_server.ahead(graded, around) as server:  # loads while the hand-ins are read
        _grade(graded, path, out, around, server, jobs=jobs, rerun=rerun, json=json, roster=roster)


def _grade(
    graded: definition.Definition,
    path: Path,
    out: Path,
    around: "Surroundings",
    server: "ForkServer | None",
    *,
    jobs: int,
    rerun: bool,
    json: bool,
    roster: Path | None,
) -> None:
    from grading.book import names
    from grading.book.classbook import ClassBook, keep_roster
    from grading.define.seed import course_secret
    from grading.handin import versions
    from grading.handin.intake import collect
    from grading.keep import report
    from grading.keep.rescore import rescore
    from grading.keep.store import Store
    from grading.run.lanes import Lanes
    from grading.run.plan import plan

    if roster is not None:
        keep_roster(roster, out)
    ClassBook.read(out)  # what is wrong in it is told before anything runs
    intake = collect(path, graded.name)
    submissions, others = versions.noted(graded, intake.submissions)
    store = Store(out, graded.name)
    rescore(graded, store)
    work, records = plan(graded, submissions, store, course_secret(out), rerun)
    console = Console(stderr=json, soft_wrap=True)
    for line in intake.ignored:
        console.print(f"[yellow]left aside[/] {escape(line)}", highlight=False)
    for line in others:
        console.print(f"[yellow]note[/] {escape(line)}", highlight=False)
    if records:
        console.print(f"{len(records)} of {len(intake.submissions)} are graded already.")
    if reasons := Counter(one.why for one in work):
        told = ", ".join(f"{count} {why}" for why, count in reasons.items())
        console.print(f"{len(work)} to run: {told}.", highlight=False)
    store.expect(one.record for one in work)
    board = Board(console, len(work))
    try:
        with board.live:
            records += Lanes(graded, store, board.tell, around, server).run(work, jobs)
    except KeyboardInterrupt:
        console.print("The same command goes on where this one stops.", highlight=False)
        raise
    page = report.write(graded, store)
    records.sort(key=lambda record: names.in_order(record.student))
    course = ClassBook.read(out)
    if json:
        json_format.dump([asdict(record) for record in records], sys.stdout, indent=1)
    else:
        print_class(console, graded, records, course.lab(graded.name))
    tell_problems(console, course, graded.name)
    console.print(f"The class table is {page}", highlight=False)
    if any(record.outcome in OURS for record in records):
        raise typer.Exit(FAULTS)


def verify(
    lab: LabName,
    repeat: Annotated[int, typer.Option(min=1, help="Prove it so often; counts flakes.")] = 1,
    whole: Annotated[bool, typer.Option("--whole", help="Run wrong answers to the end.")] = False,
    only: Annotated[
        Literal["right", "wrong"] | None, typer.Option(help="Right or wrong answers alone.")
    ] = None,
    again: Annotated[
        Path | None, typer.Option(help="Run nothing: ask the checks about what this run saw.")
    ] = None,
    jobs: Jobs = 1,
    json: Json = False,
    engine: EngineName = None,
    trust_students: Trust = False,
) -> None:
    """Prove that a lab judges rightly, in the sandbox in which hand-ins are graded.

    The reference reaches all points, and what the lab shows on the way is true; the blank notebook
    reaches its floor; each wrong answer fails the checks that it names, and beyond them only those
    that it says may fail as well; every check is failed by some wrong answer; and no check breaks,
    whatever a name or a record holds. The page of the reference is then in build/run.

    A run of wrong answers ends after the last check that they name; with --whole it does not. What
    was seen where it went otherwise is kept; --again asks changed checks about it, in seconds.
    """
    from commands import surroundings
    from grading.prove.verify import asked_again
    from grading.prove.verify import verify as prove

    choose(engine)
    proven = definition.load(lab)
    keep = PROOFS / f"{proven.name}-{datetime.datetime.now():%Y-%m-%d-%H-%M-%S}"
    pages = proven.place.root / "build" / "run"
    console = Console(stderr=json, soft_wrap=True)
    board = Board(console, None)
    with board.live:
        if again is not None:
            proof = asked_again(proven, again)
        else:
            around = surroundings.chosen(proven, trust_students)
            proof = prove(proven, keep, repeat, jobs, board.tell, pages, whole, only or "", around)
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
    from grading.book.classbook import ClassBook
    from grading.keep import report as pages
    from grading.keep.store import Store

    graded = definition.load(lab)
    expect_records(out, graded.name, lab)
    store = Store(out, graded.name)
    console = Console(soft_wrap=True)
    page = pages.write(graded, store)
    tell_problems(console, ClassBook.read(out), graded.name)
    console.print(str(page), highlight=False)


def expect_records(course: Path, name: str, lab: str) -> None:
    """Refuse a course folder without records of the lab; lab: its name as it was typed."""
    from grading.keep.store import Store

    if not (course / name).is_dir() or not Store(course, name).class_keys():
        raise CourseError(
            f"Nothing of {name} is graded in {course}.", "", f"Run ./course grade {lab} PATH"
        )
