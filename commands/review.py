"""`./course review`: what a teacher decides by hand, with who and why."""

import datetime
import getpass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from commands.board import tell_problems
from commands.grading import COURSE, LabName, Out, expect_records
from grading.define import definition
from grading.keep.words import as_number
from kafkalab.errors import CourseError

if TYPE_CHECKING:
    from grading.book.classbook import LabClass
    from grading.book.decisions import Decision
    from grading.book.marks import Absent, Mark


def review(
    lab: LabName,
    person: Annotated[
        str, typer.Argument(help="Id, login or name. Without it: all there is to look at.")
    ] = "",
    check: Annotated[
        str, typer.Argument(help="Name of a check, as the list for a person shows it.")
    ] = "",
    points: Annotated[float | None, typer.Option(help="Set the points for it.")] = None,
    excuse: Annotated[bool, typer.Option("--excuse", help="It does not count for them.")] = False,
    comment: Annotated[str, typer.Option(help="Tell the student something.")] = "",
    why: Annotated[str, typer.Option(help="The reason for points or an excuse.")] = "",
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back what was decided last about it.")
    ] = False,
    by: Annotated[str, typer.Option(help="Who decides. Without it: your user name.")] = "",
    out: Out = COURSE,
) -> None:
    """Set points, write a comment or excuse somebody, for one check or the whole lab.

    It holds when hand-ins are graded again and when points are made anew, and stands with its
    reason on the student's page, in the class table and in exports. Points for the whole lab are
    final: no late rule changes them. With a person alone, shows the checks and what was decided.
    """
    from grading.book import decisions
    from grading.book.classbook import ClassBook
    from grading.keep import report
    from grading.keep.store import Store

    graded = definition.load(lab)
    expect_records(out, graded.name, lab)
    console = Console(soft_wrap=True, highlight=False)
    course = ClassBook.read(out)
    found = course.lab(graded.name)
    if not person:
        tell_problems(console, course, graded.name)
        _list(console, found)
        console.print(f"For one of them, with all checks: ./course review {escape(lab)} PERSON")
        return
    whose = found.find(person)
    new = _decided(found, whose, check, points, excuse, comment, why, undo, by)
    if new:
        decisions.add(out / graded.name, new)
        found = ClassBook.read(out).lab(graded.name)
        whose = found.named(new[0].person)
        report.write(graded, Store(out, graded.name))
    _show(console, found, whose)


def _decided(
    found: "LabClass",
    whose: "Mark | Absent",
    check: str,
    points: float | None,
    excuse: bool,
    comment: str,
    why: str,
    undo: bool,
    by: str,
) -> "list[Decision]":
    """What is new, if it can be so."""
    from grading.book import decisions
    from grading.book.marks import Mark

    lines = whose.lines if isinstance(whose, Mark) else ()
    full = {line.check["id"]: line.check["full"] for line in lines}
    if check and check not in full:
        there = f"There are {', '.join(full)}." if full else "Nothing was handed in."
        raise CourseError(f"There is no check {check}.", there, "Name one, or none for the lab.")
    if sum([points is not None, excuse, undo]) > 1:
        raise CourseError("Points, an excuse and --undo are three things.", "", "Choose one.")
    if (points is not None or excuse) and not why.strip():
        raise CourseError(
            "Points and an excuse need their reason.", "The student reads it.", 'Add --why "…".'
        )
    whole = whose.full if isinstance(whose, Mark) else found.full
    most = full[check] if check else whole
    if points is not None and not 0 <= points <= most:
        raise CourseError(
            f"{points:g} points cannot be given.", f"It has {most:g}.", f"Give 0 to {most:g}."
        )
    if isinstance(whose, Mark):
        about = decisions.of_hand_in(whose.id)
    else:
        about = decisions.of_roster(whose.person.id)
    standing = [one for one in found.standing(whose) if check in ("", one.check)]
    if undo and not standing:
        raise CourseError("Nothing was decided about that.", "", "See it without --undo.")
    chosen = [
        *([(decisions.UNDONE, None, why)] if undo else []),
        *([(decisions.MARK, points, why)] if points is not None else []),
        *([(decisions.EXCUSE, None, why)] if excuse else []),
        *([(decisions.COMMENT, None, comment)] if comment.strip() else []),
    ]
    who = (by or _user()) if chosen else ""
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return [
        decisions.Decision(about, kind, who, when, check, value, " ".join(words.split()))
        for kind, value, words in chosen
    ]


def _list(console: Console, found: "LabClass") -> None:
    """Those whose points are not simply what the checks gave."""
    from grading.book.labclass import label_of

    for mark in found.marks:
        if mark.points is None or mark.words:
            reason = mark.record.why if mark.points is None and not mark.words else ""
            words = "; ".join(filter(None, [*mark.words, reason]))
            console.print(escape(f"{label_of(mark)}: {_points(mark)}. {words}"))


def _show(console: Console, found: "LabClass", whose: "Mark | Absent") -> None:
    from grading.book.labclass import label_of
    from grading.book.marks import Mark

    if isinstance(whose, Mark):
        console.print(escape(f"{label_of(whose)}: {_points(whose)}"))
        for line in sorted(whose.lines, key=lambda one: one.check["task"]):
            said = "excused" if line.is_excused else f"{as_number(line.reached)} of {line.full:g}"
            task, id, title = (line.check[what] for what in ("task", "id", "title"))
            console.print(escape(f"  {task}  {id}: {said}  {title}"))
        for words in whose.words:
            console.print(escape(f"  {words}"))
    else:
        points = whose.instead or "no points" if whose.points is None else as_number(whose.points)
        console.print(escape(f"{whose.person.label}: {points}. {whose.remarks}"))
    for one in found.standing(whose):
        value = "" if one.points is None else f" {one.points:g}"
        what = f"{one.kind}{value} for {one.check or 'the lab'}"
        console.print(escape(f"  {one.when[:16]} {one.who}: {what}: {one.words}"))


def _points(mark: "Mark") -> str:
    if mark.points is None:
        return mark.instead
    return f"{mark.points:g} of {mark.full:g}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise CourseError("Your user name is not known here.", "", 'Add --by "…".') from None
