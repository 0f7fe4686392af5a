"""A digest of the code that grades, so that a mended grader runs again and no other change does.

It covers what an attempt imports, read from the sources and not from what happens to be loaded:
the modules that run and judge without their comments, the settings that lie beside them,
docker-compose.yml, and the pinned versions of the packages that they use. Paths are relative, so
two clones agree. The files of the lab itself are in `Definition.digest`; what they import is here.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grading.define.meaning import FLAGS, of_tree
from grading.define.place import Place
from kafkalab.places import repository

START = (
    *("grading.run.attempt", "grading.run.lease", "grading.run.worker", "grading.lab"),
    *("grading.sandbox.watch", "grading.sandbox.joining"),
)
"""What an attempt is run with, its process, what the student's kernel loads, and programs that
are started by their path or in a cell."""
OURS = re.compile(r"(kafkalab|grading|authoring)(\.\w+)*")
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
    names = packages_of_names()
    wanted = {package for name in imported for package in names.get(name, ())}
    pinned = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
    return sorted(pin for pin in pinned if (name := PIN.match(pin)) and name[0] in wanted)


@functools.cache
def packages_of_names() -> Mapping[str, list[str]]:
    """Name of an import -> the installed packages that have it."""
    return importlib.metadata.packages_distributions()


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
                found = imports_of(file.read_text("utf-8"), package)
                self.meanings[file] = found.meaning
                self._offered[module] = self._add_found(found)

    @property
    def files(self) -> set[Path]:
        """Where these modules lie."""
        return set(self.meanings)

    def add_imports_of(self, file: Path) -> None:
        """Add what a file imports."""
        self._add_found(imports_of(file.read_text("utf-8"), ""))

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


class Imports(ast.NodeVisitor):
    """Names that a module imports, anywhere in it, and modules that it loads by name."""

    def __init__(self, package: str) -> None:
        self.names: set[str] = set()
        self.offered: dict[str, str] = {}
        """Of a package with a `__getattr__`: what it imports when one of its names is used."""
        self.meaning = ""
        """What of the module counts; it is read but once for both."""
        self._package = package
        self._is_lazy = False

    def visit_Module(self, node: ast.Module) -> None:
        self._is_lazy = any(getattr(part, "name", "") == "__getattr__" for part in node.body)
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        if not self._is_lazy:
            self.generic_visit(node)
            return
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                self.offered[str(key.value)] = str(value.value)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for part in node.orelse:
                self.visit(part)
        else:
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.names.update(alias.name for alias in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level and not self._package:
            return  # lies in the lab, and is hashed with it
        above = self._package.split(".")
        parts = above[: len(above) + 1 - node.level] if node.level else []
        base = ".".join([*parts, *([node.module] if node.module else [])])
        self.names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}

    def visit_Constant(self, node: ast.Constant) -> None:
        # a program that is started, or an engine that is chosen, is named by a text
        if isinstance(node.value, str) and OURS.fullmatch(node.value):
            self.names.add(node.value)


@functools.cache
def imports_of(text: str, package: str) -> Imports:
    """What a module or a percent script with this text imports."""
    tree = compile(text, "module", "exec", FLAGS)
    found = Imports(package)
    found.visit(tree)
    found.meaning = of_tree(tree)
    return found
