"""The names of a notebook that the public checks of each task ask for: x.value("len(counts)")."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator

from grading.define.definition import Definition
from grading.define.expression import names_in

HOLE = "_"
"""Stands for what an expression gets from the check that asks."""


def asked(lab: Definition) -> dict[int, frozenset[str]]:
    """Task -> names, read from the text of the checks and of the functions that they call."""
    functions: dict[str, ast.FunctionDef] = {}
    for name in {check.function.__module__ for check in lab.checks}:
        tree = ast.parse(inspect.getsource(sys.modules[name]))
        functions |= {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    found: dict[int, frozenset[str]] = {}
    for check in lab.checks:
        names = frozenset(_of(check.id, functions, set()))
        found[check.task] = found.get(check.task, frozenset()) | names
    return found


def _of(name: str, functions: dict[str, ast.FunctionDef], seen: set[str]) -> Iterator[str]:
    if name in seen or name not in functions:
        return
    seen.add(name)
    for node in ast.walk(functions[name]):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            yield from _of(node.func.id, functions, seen)
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "value" and node.args:
            yield from _names(_text(node.args[0]))


def _text(expression: ast.expr) -> str:
    """The text that is asked, as far as it stands in the check."""
    if isinstance(expression, ast.JoinedStr):
        return "".join(map(_text, expression.values))
    return str(expression.value) if isinstance(expression, ast.Constant) else HOLE


def _names(text: str) -> set[str]:
    try:
        return set(names_in(text)) - {HOLE}
    except SyntaxError:
        return set()
