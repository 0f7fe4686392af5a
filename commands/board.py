"""What is told while hand-ins run, and when they have run."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from grading.define.definition import Definition
from grading.judge.outcome import OURS, REFUSED
from grading.keep.words import as_number, counted, headline, in_words

if TYPE_CHECKING:
    from grading.book.classbook import ClassBook
    from grading.book.labclass import LabClass
    from grading.keep.record import AttemptRecord
    from grading.run.lanes import Progress


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
    colour = "red" if record.outcome in OURS else "green" if record.outcome == "pass" else "yellow"
    points = _points(record)
    took = f", {record.seconds['wall']:.0f} s" if "wall" in record.seconds else ""
    return f"{escape(record.student)}: [{colour}]{headline(record)}[/], {points}{took}"


def _points(record: "AttemptRecord") -> str:
    """What the run gave. What could not be run has no number."""
    if record.outcome in REFUSED:
        return "no points"
    return f"{as_number(record.reached)} of {as_number(record.full)}"


def print_class(
    console: Console,
    lab: Definition,
    records: "list[AttemptRecord]",
    found: "LabClass | None" = None,
) -> None:
    """Those that were asked for, with what counts for them in the class."""
    table = Table("student", "outcome", "points", title=lab.title)
    marks = {mark.id: mark for mark in (found.marks if found else ())}
    for record in records:
        points, mark = _points(record), marks.get(record.id)
        if mark is not None and mark.points is not None:
            counts = f"{as_number(mark.points)} of {as_number(mark.full)}"
            points = counts if counts == points else f"{counts} (the run: {points})"
        elif mark is not None and mark.is_excused:
            points = f"{mark.instead} (the run: {points})"
        table.add_row(escape(record.student), escape(in_words(record)), points)
    console.print(table)
    heads = Counter(map(headline, records))
    told = ", ".join(f"{count} {words}" for words, count in heads.most_common())
    console.print(f"{counted(len(records), 'hand-in')}: {told}", highlight=False)


def tell_problems(console: Console, course: "ClassBook", lab: str) -> None:
    """What a teacher should look at in the class of a lab."""
    tell(console, "look at:", [*course.remarks(), *course.lab(lab).problems()])


def tell(console: Console, mark: str, lines: Iterable[str]) -> None:
    """A line for each thing that a teacher should know."""
    for line in lines:
        console.print(f"[yellow]{mark}[/] {escape(line)}", highlight=False)
