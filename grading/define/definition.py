"""A lab as its author wrote it: lab.toml, parameters.py, checks.py, hints.md and, where it has one,
faults.py (what breaks while a cell runs) in the student's folder, hidden.py in the teacher's.

The hidden checks are loaded by the grader alone, through a function of their own: the learner's
notebook loads the same definition and must never hold them.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from grading.define import meaning
from grading.define.marks import HINT
from grading.define.place import Place, find
from grading.define.seed import Make
from grading.faults.fault import Fault
from grading.judge.checks import Check
from kafkalab.errors import CourseError

NO_CLUSTER = "none"
KEYS = {"title", "version", "profile", "cluster", "gateway", "floor", "students_may"}
DONE_TO_NODES = {"start", "stop", "kill", "pause", "resume", "wipe"}
TABLES = {"settings", "parameters", "limits", "tasks"}


@dataclass(frozen=True)
class Task:
    """A question of the lab. `hidden` is the number of its hidden checks, which learners see."""

    number: int
    title: str
    points: float
    hidden: int = 0


@dataclass(frozen=True)
class Limits:
    """Seconds for one cell, seconds for all of it, bytes of output.

    In a sandbox also: bytes of memory, processes and threads at once, bytes of files.
    """

    cell: float = 60.0
    run: float = 600.0
    output: int = 10_000_000
    memory: int = 4_000_000_000
    processes: int = 1_500
    disk: int = 1_000_000_000


@dataclass(frozen=True)
class Definition:
    """Everything about a lab but its text and its hidden checks."""

    place: Place
    title: str
    version: int
    profile: str
    fresh: bool
    """A cluster of its own for every hand-in, for labs that change the cluster itself."""
    gateway: bool
    """Whether the clients reach the cluster through a gateway, which can be told to fail."""
    students_may: frozenset[str]
    """What the code of a hand-in may do to a node: start, stop, kill, pause, resume, wipe."""
    floor: float
    """What the untouched student notebook scores."""
    settings: dict[str, str]
    values: dict[str, Any]
    """What grading puts in place of the defaults in the notebook's parameters cell."""
    limits: Limits
    tasks: dict[int, Task]
    make: Make = field(repr=False)
    checks: tuple[Check, ...] = field(repr=False)
    hints: dict[int, str] = field(repr=False)
    faults: dict[int, Fault] = field(default_factory=dict, repr=False)
    """What breaks while the cell of a task runs."""

    @property
    def points(self) -> float:
        return sum(task.points for task in self.tasks.values())

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def digest(self) -> str:
        """Changes with what runs or looks; not with points, titles, hints, comments, solutions."""
        digest = hashlib.sha256()
        for path, file in self.place.files():
            if content := meaning.of_file(path, file, self.place.master):
                digest.update(f"{path}\0".encode() + content + b"\0")
        return digest.hexdigest()

    def hidden_checks(self) -> tuple[Check, ...]:
        """The hidden checks. For the grader's process only; also proves the points of the lab."""
        exists = (self.place.teacher / "hidden.py").exists()
        hidden = _checks(module(self.place, "hidden")) if exists else ()
        everything = (*self.checks, *hidden)
        _refuse(self.place.student / "lab.toml", _wrong_points(self, everything, hidden))
        return hidden


def load(name: str, root: Path | None = None) -> Definition:
    """The definition of a lab, or a CourseError with all that is wrong in it."""
    place = find(name, root)
    file = place.student / "lab.toml"
    if not file.exists():
        raise CourseError(
            f"{place.name} cannot be checked: {file} is missing.", "", "Write it (CONTRIBUTING.md)."
        )
    try:
        table = tomllib.loads(file.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{file} is not TOML.", str(error), "Mend it.") from None
    problems = [f"unknown key {key}" for key in table.keys() - KEYS - TABLES]
    problems += [f"missing key {key}" for key in ("title", "version", "profile", "tasks")
                 if key not in table]  # fmt: skip
    if table.get("cluster", "shared") not in {"shared", "fresh"}:
        problems.append("cluster is neither shared nor fresh")
    if unknown := set(table.get("students_may", [])) - DONE_TO_NODES:
        problems.append(f"students_may names {', '.join(sorted(unknown))}, which no node knows")
    _refuse(file, problems)
    try:
        tasks = {int(number): Task(int(number), **task) for number, task in table["tasks"].items()}
        limits = Limits(**table.get("limits", {}))
    except (TypeError, ValueError, AttributeError) as error:
        raise CourseError(f"{file} does not fit its lab.", str(error), "Mend it.") from None
    definition = Definition(
        place=place,
        title=table["title"],
        version=table["version"],
        profile=table["profile"],
        fresh=table.get("cluster", "shared") == "fresh",
        gateway=table.get("gateway", False),
        students_may=frozenset(table.get("students_may", [])),
        floor=table.get("floor", 0),
        settings={key: str(value) for key, value in table.get("settings", {}).items()},
        values=table.get("parameters", {}),
        limits=limits,
        tasks=dict(sorted(tasks.items())),
        make=module(place, "parameters").make,
        checks=_checks(module(place, "checks")),
        hints=hints(place),
        faults=_faults(place),
    )
    problems = _wrong_checks(definition)
    problems += [f"task {n} has no hint in hints.md" for n in tasks if n not in definition.hints]
    _refuse(file, problems)
    return definition


def _wrong_checks(definition: Definition) -> list[str]:
    problems, where = [], " (in checks.py)"
    for check in definition.checks:
        if check.task not in definition.tasks:
            problems.append(f"check {check.id} is about task {check.task}, which is not there")
    for number, fault in definition.faults.items():
        if number not in definition.tasks:
            problems.append(f"fault {fault.id} is about task {number}, which is not there")
    for number, task in definition.tasks.items():
        public = sum(check.points for check in definition.checks if check.task == number)
        if not task.hidden and public != task.points:
            problems.append(f"task {number} has {task.points} points, its checks {public}{where}")
    return problems


def _wrong_points(
    definition: Definition, everything: tuple[Check, ...], hidden: tuple[Check, ...]
) -> list[str]:
    problems, where = [], " (in checks.py and hidden.py)"
    ids = [check.id for check in everything]
    problems += [f"two checks are called {name}" for name in {i for i in ids if ids.count(i) > 1}]
    for check in everything:
        if check.needs is not None and check.needs not in ids[: ids.index(check.id)]:
            problems.append(f"check {check.id} needs {check.needs}, which is not before it")
        if check.task not in definition.tasks:
            problems.append(f"check {check.id} is about task {check.task}, which is not there")
    for number, task in definition.tasks.items():
        points = sum(check.points for check in everything if check.task == number)
        if points != task.points:
            problems.append(f"task {number} has {task.points} points, its checks {points}{where}")
        count = sum(check.task == number for check in hidden)
        if count != task.hidden:
            problems.append(f"task {number} says hidden = {task.hidden}, hidden.py has {count}")
    return problems


def module(place: Place, name: str) -> ModuleType:
    """A file of a lab as a module of a package of its own, so that labs of any folder can be
    loaded side by side. Within it, `from .rule import …` finds what lies beside: the student's
    files, and the teacher's for those that lie with the teacher.
    """
    package = f"lab_{hashlib.sha256(str(place.student).encode()).hexdigest()[:8]}_{place.folder}"
    if package not in sys.modules:
        whole = ModuleType(package)
        whole.__path__ = [str(place.student), str(place.teacher)]
        sys.modules[package] = whole
    importlib.invalidate_caches()
    try:
        # Anew each time: an author who mends a check runs the mended one.
        sys.modules.pop(f"{package}.{name}", None)
        return importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{package}.{name}":
            raise
        raise CourseError(
            f"{place.name} cannot be checked: {name}.py is missing.", "", "Write it."
        ) from None


def _checks(module: ModuleType) -> tuple[Check, ...]:
    """In the order of their definition, since a check needs one that ran before it."""
    return tuple(thing for thing in vars(module).values() if isinstance(thing, Check))


def _faults(place: Place) -> dict[int, Fault]:
    """The faults of a lab by their task; most labs have none."""
    if not (place.student / "faults.py").exists():
        return {}
    found = [thing for thing in vars(module(place, "faults")).values() if isinstance(thing, Fault)]
    return {fault.task: fault for fault in found}


def hints(place: Place) -> dict[int, str]:
    """The hint for each task that has one, from hints.md."""
    file = place.student / "hints.md"
    parts = HINT.split(file.read_text("utf-8") if file.exists() else "")
    return {
        int(number): text.strip() for number, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def _refuse(file: Path, problems: Iterable[str]) -> None:
    if problems := list(problems):
        raise CourseError(f"{file} does not fit its lab.", "; ".join(problems), "Mend it.")
