"""Which names of kafkalab a learner's own page uses that the course no longer has."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

OURS = "kafkalab"


def gone_names(file: Path) -> list[str]:
    """Those names in full, as in kafkalab.clients.producer; `file` is a notebook or a program.

    Text that is no Python, as a magic of IPython, is passed over.
    """
    trees = list(_trees(file))
    modules: dict[str, tuple[str, ModuleType]] = {}
    gone: dict[str, None] = {}
    for name, bound in _imported(trees):
        found = _found(name)
        if found is None:
            gone[name] = None
        elif isinstance(found, ModuleType) and bound:
            modules[bound] = name, found
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name, module = modules.get(node.value.id, ("", None))
            if module is not None and not hasattr(module, node.attr):
                gone[f"{name}.{node.attr}"] = None
    return list(gone)


def _imported(trees: list[ast.Module]) -> Iterator[tuple[str, str]]:
    """Names of ours in full, and what each is called in the page where it has a name there."""
    for node in (node for tree in trees for node in ast.walk(tree)):
        pairs = []
        if isinstance(node, ast.Import):
            pairs = [(alias.name, alias.asname or "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            pairs = [
                (f"{node.module}.{alias.name}", alias.asname or alias.name)
                for alias in node.names
                if alias.name != "*"
            ]
        yield from (pair for pair in pairs if pair[0].partition(".")[0] == OURS)


def _trees(file: Path) -> Iterator[ast.Module]:
    text = file.read_text("utf-8", errors="replace")
    texts = [text]
    if file.suffix == ".ipynb":
        try:
            cells = json.loads(text)["cells"]
            texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        except (ValueError, KeyError, TypeError):
            return
    for each in texts:
        try:
            yield ast.parse(each)
        except (SyntaxError, ValueError):
            continue


def _found(name: str) -> Any:
    """What a full name stands for; None where there is nothing of that name."""
    parent, _, last = name.rpartition(".")
    try:
        if parent:
            inside = importlib.import_module(parent)
            if hasattr(inside, last):
                return getattr(inside, last)
        return importlib.import_module(name)
    except ImportError:
        return None
