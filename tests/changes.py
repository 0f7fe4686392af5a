"""Which tests a change touches: those whose file leads, by imports, to a file that differs.

Read from the sources and never from a run, so that it holds on a fresh clone. In doubt a test
counts as touched: a module that is only named in a string (a program started as `-m kafkalab.…`)
is followed too, and a file that no import leads to (the Compose file, pyproject.toml) touches all.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import kafkalab
from kafkalab.places import repository

ROOT = repository()
PACKAGES = ("kafkalab", "grading", "authoring", "commands", "tests", "benchmarks")
NAMED = re.compile(rf"\b(?:{'|'.join(PACKAGES)})(?:\.\w+)+")
# It names its modules in strings, and fetches each of them when somebody asks for the name.
LAZY = Path("kafkalab", "__init__.py")
_LATE = {f"kafkalab.{name}": module for name, module in kafkalab.names().items()}
# Read by nobody but people, or written by the build from what is followed anyway.
WITHOUT_EFFECT = re.compile(
    r"(README|CHANGELOG|CONTRIBUTING|LICENSE)(\.md)?$|\.gitignore$|environment\.yml$|"
    r"(notebooks|labs)/.*\.ipynb$|lessons/.*\.(md|png)$"
)
# An evening's work at most: what to look at where no tag says what was tested whole.
HOURS = 3
# Of lessons that did not change, CI runs the cells of one in three a second time, in turn.
PARTS = 3
# Minutes of tests for which a run of CI has room beyond `./course test`, which takes half an hour
# there. Workers share them.
ROOM = 20
# What a test of the rest costs that says nothing else (`@pytest.mark.rest(minutes=8)`), on a busy
# machine.
MINUTES = 0.5


def base() -> str:
    """The commit since which things count as changed; empty where the history does not tell.

    The last tag, before which everything was tested. Where there is none, the last commit that is
    more than three hours older than the newest one.
    """
    if tag := _git("describe", "--tags", "--abbrev=0"):
        return tag
    newest = _git("log", "-1", "--format=%ct")
    if not newest:
        return ""
    return _git("rev-list", "-1", f"--before={int(newest) - HOURS * 3600}", "HEAD")


def changed_since(commit: str) -> set[Path] | None:
    """Files that differ from a commit, also those not committed yet; None where all may."""
    if not commit or not _git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"):
        return None
    names = _git("diff", "--name-only", commit).splitlines()
    names += _git("ls-files", "--others", "--exclude-standard").splitlines()
    return {Path(name) for name in names if not WITHOUT_EFFECT.search(name)}


def touched(starts: Iterable[Path], changed: set[Path] | None) -> bool:
    """Whether what these files lead to has changed. A folder leads to all that is in it."""
    if changed is None:
        return True
    if any(file.suffix not in (".py", ".toml", ".md") or file.parent == Path() for file in changed):
        return True
    for start in starts:
        if start.suffix == "":
            if any(file.is_relative_to(start) for file in changed):
                return True
            continue
        if changed & closure(start):
            return True
    return False


@functools.cache
def closure(start: Path) -> frozenset[Path]:
    """The file and every file of ours that it leads to; paths are relative to the repository."""
    found: set[Path] = set()
    waiting = [start]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += leads_to(file)
    return frozenset(found)


@functools.cache
def leads_to(file: Path) -> frozenset[Path]:
    """The files of ours that a file imports or names."""
    path = ROOT / file
    if path.suffix != ".py" or not path.is_file():
        return frozenset()
    try:
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(path.read_text("utf-8"), str(path), "exec", flags)
    except SyntaxError:
        return frozenset()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(file.parts[: -node.level]) if node.level else ""
            module = ".".join(filter(None, [above, node.module]))
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and file != LAZY:
            names |= set(NAMED.findall(node.value))
    return frozenset(found for name in names for found in _files(name))


def _files(name: str) -> Iterable[Path]:
    """The file of a module, and of the packages that are loaded on the way to it."""
    parts = _LATE.get(name, name).split(".")
    if parts[0] not in PACKAGES:
        return
    for count in range(1, len(parts) + 1):
        stem = Path(*parts[:count])
        for file in (stem / "__init__.py", stem.with_suffix(".py")):
            if (ROOT / file).is_file():
                yield file


@functools.cache  # it is asked for each test that has its turn
def _git(*arguments: str) -> str:
    """What git says, or nothing: a copy without a history is no failure."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def has_its_turn(number: int, parts: int = PARTS) -> bool:
    """Whether the test with this number among those that CI need not run each time is run now."""
    return number % parts == _commits() % parts


def in_turn(minutes: Sequence[float], room: float) -> list[int]:
    """Those of some tests, by their numbers, that have their turn now: none without room.

    Commit by commit each has it once, and then the first ones again. They take no longer than
    `room` together; who takes longer alone has a turn alone.
    """
    turns: list[list[int]] = []
    left = 0.0
    for number, price in enumerate(minutes if room > 0 else ()):
        if not turns or price > left:
            turns.append([])
            left = room
        turns[-1].append(number)
        left -= price
    return turns[_commits() % len(turns)] if turns else []


def _commits() -> int:
    return int(_git("rev-list", "--count", "HEAD") or 0)
