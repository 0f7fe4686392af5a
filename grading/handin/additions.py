"""What a student did to a given cell: what of it runs behind the master's text, and what does not.

A given cell runs as the master has it. Statements that the student put in run after it. A changed
statement runs after it too where it only defines something, so that a function with one more
argument is there for the tasks; what acts on the cluster would act twice, and does not run.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from difflib import SequenceMatcher

from grading.handin import code

ALIKE = 0.6
DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
OPENS = "Lab.open("


@dataclass(frozen=True)
class Change:
    """`added`: code to run behind the given cell. `dropped`: lines that do not run."""

    added: str = ""
    dropped: tuple[str, ...] = ()
    is_broken: bool = False
    """Whether what the student made of the cell is no Python."""


def change(ours: str, theirs: str, is_set_up: bool, values: frozenset[str] = frozenset()) -> Change:
    """What a student made of a given cell. values: names that are ours alone and are not told."""
    wanted, seen = code.tree(ours), code.tree(theirs)
    if seen is None or wanted is None:
        return Change(is_broken=True)
    left = [ast.unparse(statement) for statement in wanted.body]
    extra: list[ast.stmt] = []
    for statement in seen.body:
        text = ast.unparse(statement)
        if text in left:
            left.remove(text)
        else:
            extra.append(statement)
    added: list[str] = []
    dropped: list[str] = []
    for statement in extra:
        text = ast.unparse(statement)
        if values and code.bound(text) & values:
            continue
        former = next((one for one in left if _replaces(text, one)), None)
        if former is not None:
            left.remove(former)
        if former is None or _only_defines(statement, is_set_up):
            added.append(text)
        else:
            dropped.append(text.splitlines()[0])
    return Change("\n".join(added), tuple(dropped))


def _replaces(new: str, old: str) -> bool:
    if code.bound(new) & code.bound(old):
        return True
    return SequenceMatcher(None, old[:2_000], new[:2_000], autojunk=False).ratio() > ALIKE


def _only_defines(statement: ast.stmt, is_set_up: bool) -> bool:
    if isinstance(statement, DEFINES):
        return True
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return False
    acts = any(isinstance(node, ast.Call) for node in ast.walk(statement))
    return not acts or (is_set_up and OPENS not in ast.unparse(statement))
