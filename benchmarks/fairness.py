"""Whether honest hand-ins get full marks, and cheats get nothing.

./course bench fairness [1 2 …] [--kind honest] [--only WORD …] [--jobs 2] [--keep FOLDER]

Each lab's solution is handed in as many other people would write it, and blank labs with code that
wants points, other people's records, or to stay. All of them are graded by `./course grade`. With
--keep a run that was cut off goes on where it stopped. Cheats run for real: let them, where the
sandbox is off, only where nothing else of value lies.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.handins.cheats import LOOT, STRAY, cheats
from benchmarks.handins.course import Course, lost
from benchmarks.handins.formats import written
from benchmarks.handins.honest import honest
from grading.define import definition, master
from grading.define.definition import Definition
from kafkalab.places import repository

HONEST, CHEATS = "honest", "cheats"
BLANK, VICTIM, NEXT = "a blank", "an honest one", "the next one"
PLANTED = "fairness_cheat.pth"


@dataclass
class Row:
    """What came out for one lab and kind."""

    lab: str
    kind: str
    right: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def judge(self, name: str, problem: str) -> None:
        (self.wrong if problem else self.right).append(name)
        if problem:
            self.words.append(problem)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench fairness")
    parser.add_argument("labs", nargs="*", default=[place.name for place in _labs()])
    parser.add_argument("--kind", choices=[HONEST, CHEATS])
    parser.add_argument("--only", nargs="+", default=[""], help="those whose name holds a word")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a folder for hand-ins, records and pages")
    options = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="fairness-") as spare:
        folder = (options.keep or Path(spare)).absolute()
        try:
            for name in options.labs if options.kind != CHEATS else []:
                rows.append(judge_honest(definition.load(name), folder, options))
                show(rows[-1:])
            for name in options.labs if options.kind != HONEST else []:
                rows.append(judge_cheats(definition.load(name), folder, options))
                show(rows[-1:])
        except KeyboardInterrupt:
            sys.exit(130)
        finally:
            show(rows)
    if any(row.wrong for row in rows):
        sys.exit(1)


def _labs() -> list[Any]:
    from grading.define.place import places

    return places()


def judge_honest(lab: Definition, folder: Path, options: argparse.Namespace) -> Row:
    """Every honest hand-in reaches all points."""
    row = Row(lab.name, HONEST)
    chosen = [
        (name, data) for name, data in honest(lab) if any(word in name for word in options.only)
    ]
    records = Course(lab, folder / f"{lab.name}-honest").grade(chosen, options.jobs)
    for name, _ in chosen:
        record = records[name]
        row.judge(name, "" if record["reached"] == record["full"] else lost(record))
    return row


def judge_cheats(lab: Definition, folder: Path, options: argparse.Namespace) -> Row:
    """A cheat has no more than a blank, changes nobody's record, reads and leaves nothing."""
    row = Row(lab.name, CHEATS)
    course = Course(lab, folder / f"{lab.name}-cheats")
    solved, blank = written(master.solved(lab)), written(master.blank(lab))
    first = course.grade([(BLANK, blank), (VICTIM, solved)], options.jobs)
    before = course.digests()
    told = {"COURSE": str(course.records), "ROOT": str(repository()), "LOOT": LOOT}
    told |= {"STRAY": STRAY, "VICTIM": VICTIM}
    chosen = [
        (name, data)
        for name, data in cheats(lab, told)
        if any(word in name for word in options.only)
    ]
    # by its name it is graded last, where the cheats were
    records = course.grade([*chosen, (NEXT, solved)], options.jobs)
    after = course.digests()
    for name, _ in chosen:
        row.judge(name, _gain(course, records[name], first[BLANK]["reached"]))
    for name in (VICTIM, NEXT):
        is_whole = records[name]["reached"] == records[name]["full"]
        row.judge(f"{name}: its mark", "" if is_whole else lost(records[name]))
    changed = [name for name in before if after.get(name) != before[name]]
    row.judge("records before", f"changed: {', '.join(changed)}" if changed else "")
    strays = list(_strays())
    row.judge("processes after", f"left: {strays}" if strays else "")
    planted = [str(file) for file in _planted()]
    row.judge("files of the grader", f"planted: {', '.join(planted)}" if planted else "")
    return row


def _gain(course: Course, record: dict[str, Any], floor: float) -> str:
    """What a cheat has got; nothing where it has got nothing."""
    if record["reached"] is None:
        return f"{record['student']}: a fault of ours, {record['why'][:200]}"
    if record["reached"] > floor:
        got = [c for c in record["checks"] if c["reached"]]
        told = ", ".join(f"{c['id']} {c['reached']:g}" for c in got)
        return f"{record['student']}: {record['reached']:g} points, a blank has {floor:g}: {told}"
    text = course.outputs(record["key"])
    read = [line for line in text.splitlines() if f"{LOOT} " in line]
    return f"{record['student']}: read {read[0][:120]}" if read else ""


def _strays() -> Iterator[int]:
    for process in psutil.process_iter(["cmdline"]):
        if any(STRAY in word for word in process.info["cmdline"] or []):
            yield process.pid
            process.kill()


def _planted() -> Iterator[Path]:
    import site

    for folder in (repository(), repository() / "grading", *map(Path, site.getsitepackages())):
        file = folder / PLANTED
        if file.exists():
            yield file
            file.unlink()


def show(rows: list[Row]) -> None:
    table = Table("lab", "kind", "right", "went wrong")
    console = Console(highlight=False)
    for row in rows:
        total = len(row.right) + len(row.wrong)
        table.add_row(row.lab, row.kind, f"{len(row.right)} of {total}", ", ".join(row.wrong))
    console.print(table)
    for row in rows:
        for words in row.words:
            console.print(f"{row.lab}, {row.kind}: {words}", markup=False)


if __name__ == "__main__":
    main()
