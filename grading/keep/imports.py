"""What our modules import and what of them counts, read from their texts.

Reading them all took most of the time in which `grade` runs nobody yet. What was read of a text is
kept in the cache of this machine, by what the text is: a changed one is read again.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from grading.define import meaning
from kafkalab.files import write_whole
from kafkalab.places import cache

MOST = 2_000
"""Texts that are kept: several editions of the course with all its labs, in a few hundred kB."""
OURS = re.compile(r"(kafkalab|grading|authoring)(\.\w+)*")


@dataclass(frozen=True)
class Imports:
    """What one module says of others, and of itself."""

    names: list[str]
    """Modules that it imports, anywhere in it, or loads by name; sorted."""
    offered: dict[str, str]
    """Of a package with a `__getattr__`: what it imports when one of its names is used."""
    meaning: str
    """A digest of what of the module counts (meaning.py)."""


class Reader:
    """Reads texts, or knows them from an earlier run. `keep` when all are read."""

    def __init__(self) -> None:
        self._file = _kept_in()
        self._known = _kept(self._file)
        self._used: dict[str, Imports] = {}

    def read(self, text: str, package: str) -> Imports:
        """Of a module or a percent script. package: where it lies, for what it imports from there;
        empty outside of any. Raises SyntaxError where the text is no Python."""
        key = hashlib.sha256(f"{package}\0{text}".encode()).hexdigest()
        found = self._used.get(key) or self._known.get(key) or imports_of(text, package)
        self._used[key] = found
        return found

    def keep(self) -> None:
        """Write down what was asked for behind what is known, where some of it is new and somebody
        may write there. What was not asked for longest goes first."""
        if self._used.keys() <= self._known.keys():
            return
        others = [item for item in self._known.items() if item[0] not in self._used]
        kept = [*others, *self._used.items()][-MOST:]
        content = json.dumps({key: list(vars(found).values()) for key, found in kept})
        try:
            write_whole(self._file, content)
        except OSError:
            return  # a next run reads the texts again


@functools.cache
def _kept_in() -> Path:
    """Another file where texts are read in another way."""
    way = "".join(inspect.getsource(module) for module in (sys.modules[__name__], meaning))
    version = ".".join(map(str, sys.version_info[:3]))
    return cache() / "imports" / f"{version}-{hashlib.sha256(way.encode()).hexdigest()[:16]}.json"


def _kept(file: Path) -> dict[str, Imports]:
    """By the digest of a text; empty where nothing is kept, or what is kept is no longer whole."""
    try:
        table = json.loads(file.read_bytes())
        return {key: Imports(*values) for key, values in table.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def imports_of(text: str, package: str) -> Imports:
    """Read a text, with nothing known of it."""
    tree = compile(text, "module", "exec", meaning.FLAGS)
    visitor = _Visitor(package)
    visitor.visit(tree)
    digest = hashlib.sha256(meaning.of_tree(tree).encode()).hexdigest()
    return Imports(sorted(visitor.names), visitor.offered, digest)


class _Visitor(ast.NodeVisitor):
    def __init__(self, package: str) -> None:
        self.names: set[str] = set()
        self.offered: dict[str, str] = {}
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
