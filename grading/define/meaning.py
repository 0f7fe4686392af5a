"""What of a lab's files and of our own code an attempt depends on.

A comment, a docstring, points, titles and hints can change without changing what a run would show:
points are made of the evidence afterwards. The text of the reference is no input either, since a
hand-in meets the blank notebook alone.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
FOR_READERS = {"hints.md", "README.md"}
OF_THE_SCORE = {"title", "version", "floor", "tasks"}
SAID_BY_A_CHECK = {"points", "title"}
CELL = re.compile(r"^# %%.*$", re.MULTILINE)
SOLUTION = re.compile(
    r"^(?P<begin>[ \t]*# BEGIN SOLUTION[ \t]*\n)(?P<lines>.*?)^[ \t]*# END SOLUTION",
    re.MULTILINE | re.DOTALL,
)
STUB = re.compile(r"^[ \t]*# STUB:.*$", re.MULTILINE)


def of_file(path: PurePosixPath, file: Path, master: Path) -> bytes:
    """What of a lab's file counts; empty where nothing does."""
    if path.name in FOR_READERS:
        return b""
    if file == master:
        return of_master(file.read_text("utf-8")).encode()
    if path.name == "lab.toml":
        return of_settings(file.read_text("utf-8")).encode()
    if path.suffix == ".py":
        return of_code(file.read_text("utf-8")).encode()
    return file.read_bytes()


def of_settings(text: str) -> str:
    """lab.toml without what is only shown or scored."""
    table = tomllib.loads(text)
    kept = {key: value for key, value in table.items() if key not in OF_THE_SCORE}
    tasks = sorted(table.get("tasks", {}))
    return json.dumps({"tasks": tasks, **kept}, sort_keys=True, default=str)


def of_master(text: str) -> str:
    """The code cells of a master, with their tags, and of a solution the stub in its place."""
    marks = [*CELL.finditer(text)]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    cells = [
        text[mark.start() : end].rstrip()
        for mark, end in zip(marks, ends, strict=True)
        if "[markdown]" not in mark[0]
    ]
    return SOLUTION.sub(
        lambda m: m["begin"] + "\n".join(STUB.findall(m["lines"])), "\n".join(cells)
    )


@functools.cache
def of_code(text: str) -> str:
    """A module without comments, docstrings, and what its checks are worth and called."""
    try:
        return of_tree(compile(text, "module", "exec", FLAGS))
    except (SyntaxError, ValueError):
        return text  # it will fail when it is used, and says so then


def of_tree(node: object) -> str:
    """The same of a module that is read already, as `ast.dump` writes it; the tree stays whole."""
    if not isinstance(node, ast.AST):
        return repr(node)
    kind, parts = type(node), []
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None and getattr(kind, name, ...) is None:
            continue
        if isinstance(value, list):
            counts = ", ".join(map(of_tree, _counting(node, name, value)))
            parts.append(f"{name}=[{counts}]")
        else:
            parts.append(f"{name}={of_tree(value)}")
    return f"{kind.__name__}({', '.join(parts)})"


def _counting(node: ast.AST, name: str, parts: list[Any]) -> list[Any]:
    """What counts of a list in a tree."""
    if name == "body" and parts and _is_docstring(parts[0]):
        return parts[1:]
    if name == "keywords" and getattr(getattr(node, "func", None), "id", "") == "check":
        return [word for word in parts if word.arg not in SAID_BY_A_CHECK]
    return parts


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and (
        isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
