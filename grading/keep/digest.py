"""A digest of the code that grades, so that a mended grader runs again and no other change does.

It covers what an attempt imports, read from the sources and not from what happens to be loaded:
the modules that run and judge without their comments, the settings that lie beside them,
docker-compose.yml, and the pinned versions of the packages that they use. Paths are relative, so
two clones agree. The files of the lab itself are in `Definition.digest`; what they import is here.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from grading.define.place import Place
from grading.keep.imports import OURS, Imports, Reader
from kafkalab.places import repository

START = (
    *("grading.run.attempt", "grading.run.lease", "grading.run.worker", "grading.lab"),
    *("grading.sandbox.watch", "grading.sandbox.joining"),
)
"""What an attempt is run with, its process, what the student's kernel loads, and programs that
are started by their path or in a cell."""
NO_INPUT = ("kafkalab.draw", "grading.judge.score", "grading.practice")
"""Left out: no check looks at a colour, and points are made anew by `./course rescore`. Where it
matters after all, there is --rerun."""
SETTINGS = {".json", ".properties", ".toml", ".xml", ".yml"}
PIN = re.compile(r"[\w.-]+(?===)")


@functools.cache
def grader_digest(place: Place, root: Path | None = None) -> str:
    """Changes with the code that grades the lab at `place`. root: where that code lies."""
    root = root or repository()
    closure = Closure(root)
    for name in START:
        closure.add(name)
    for _, file in place.files():
        if file.suffix == ".py":
            closure.add_imports_of(file)
    closure.keep()
    digest = hashlib.sha256()
    for file in sorted({root / "docker-compose.yml", *closure.files, *settings(closure.files)}):
        relative = file.relative_to(root).as_posix()
        meaning = closure.meanings.get(file)
        content = file.read_bytes() if meaning is None else meaning.encode()
        digest.update(f"{relative}\0".encode() + content + b"\0")
    digest.update("\n".join(pins(root / "pyproject.toml", closure.outside)).encode())
    return digest.hexdigest()[:16]


def settings(modules: Iterable[Path]) -> list[Path]:
    """The files that are no Python beside these modules: versions of Java packages, schemas."""
    folders = {module.parent for module in modules}
    return [file for folder in folders for file in folder.iterdir() if file.suffix in SETTINGS]


def pins(project: Path, imported: set[str]) -> list[str]:
    """The pinned versions of the packages that these imports come from."""
    pinned = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
    named = {pin: name[0] for pin in pinned if (name := PIN.match(pin))}
    return sorted(pin for pin, name in named.items() if names_of(name) & imported)


@functools.cache
def names_of(package: str) -> frozenset[str]:
    """First names of what an installed package has for imports; none where it is not installed."""
    try:
        installed = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return frozenset()
    if told := installed.read_text("top_level.txt"):
        return frozenset(told.split())
    modules = (file for file in installed.files or () if file.suffix == ".py")
    return frozenset(file.parts[0].removesuffix(".py") for file in modules)


@dataclass
class Closure:
    """The modules of ours that some modules import, and those import, and so on."""

    root: Path
    ours: re.Pattern[str] = OURS
    left_out: tuple[str, ...] = NO_INPUT
    meanings: dict[Path, str] = field(default_factory=dict)
    """Of each of their files, what counts of it."""
    outside: set[str] = field(default_factory=set)
    """First names of imports from elsewhere."""
    _reader: Reader = field(default_factory=Reader)
    _offered: dict[str, dict[str, str]] = field(default_factory=dict)
    _added: set[str] = field(default_factory=set)
    _found: dict[str, Path | None] = field(default_factory=dict)

    def add(self, name: str) -> None:
        """A module with all that it imports; also `package.name` where that is no module."""
        if name in self._added:
            return
        self._added.add(name)
        if not self.ours.fullmatch(name):
            self.outside.add(name.partition(".")[0])
            return
        if any(f"{name}.".startswith(f"{left_out}.") for left_out in self.left_out):
            return
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            module = ".".join(parts[:end])
            file = self._file(module)
            if file is None:
                package = ".".join(parts[: end - 1])
                if package not in self._offered:
                    self._added.discard(name)  # still being read, by an import in a circle
                elif later := self._offered[package].get(parts[end - 1]):
                    self.add(later)
                return
            if file not in self.meanings:
                self.meanings[file] = ""  # being read
                package = module if file.name == "__init__.py" else module.rpartition(".")[0]
                found = self._reader.read(file.read_text("utf-8"), package)
                self.meanings[file] = found.meaning
                self._offered[module] = self._add_found(found)

    @property
    def files(self) -> set[Path]:
        """Where these modules lie."""
        return set(self.meanings)

    def add_imports_of(self, file: Path) -> None:
        """Add what a file imports."""
        self._add_found(self._reader.read(file.read_text("utf-8"), ""))

    def keep(self) -> None:
        """Let a later run know what was read."""
        self._reader.keep()

    def _add_found(self, found: Imports) -> dict[str, str]:
        """Returns what is fetched only when asked: name -> module."""
        for name in found.names:
            self.add(name)
        return found.offered

    def _file(self, module: str) -> Path | None:
        """Where a module lies. Asked for each name of it that is imported, and looked up once."""
        if module not in self._found:
            above = self._found.get(module.rpartition(".")[0])
            if above is not None and above.name != "__init__.py":
                return None  # a name within a module; most that are asked for are such
            path = self.root.joinpath(*module.split("."))
            both = (path.with_suffix(".py"), path / "__init__.py")
            self._found[module] = next((file for file in both if file.exists()), None)
        return self._found[module]
