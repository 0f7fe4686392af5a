"""What the code of a cell binds and uses, read and never run. All of it may be a student's."""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
import symtable
import warnings
from functools import lru_cache

from IPython.core.inputtransformer2 import TransformerManager

BINDS = re.compile(
    r"^(?:(?:async\s+)?def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE
)
WORD = re.compile(r"[^\W\d]\w*")
BUILTIN = frozenset(dir(builtins))
BY_TEXT = frozenset({"globals", "locals", "vars", "eval", "exec", "get_ipython", "In", "Out"})
"""Who uses one of these may use any name."""
DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@lru_cache(maxsize=4_096)
def tree(text: str) -> ast.Module | None:
    """The syntax of a cell, its magics and commands turned into calls; None where it has none."""
    # A student's text may be anything at all, also what makes a parser give up.
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(TransformerManager().transform_cell(text))
    return None


@lru_cache(maxsize=4_096)
def meaning(text: str) -> str:
    """The code without comments and layout; equal where two cells do the same."""
    code = tree(text)
    return text if code is None else ast.unparse(code)


@lru_cache(maxsize=4_096)
def bound(text: str) -> frozenset[str]:
    """The names that a cell gives to the notebook."""
    code = tree(text)
    if code is None:
        return frozenset(one or other for one, other in BINDS.findall(text))
    with contextlib.suppress(Exception):
        table = symtable.symtable(ast.unparse(code), "cell", "exec")
        return frozenset(
            one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()
        )
    return frozenset()


@lru_cache(maxsize=4_096)
def used(text: str) -> frozenset[str]:
    """The names that a cell may take from the notebook, also within its functions."""
    code = tree(text)
    if code is None or "get_ipython" in WORD.findall(ast.unparse(code)):
        return frozenset(WORD.findall(text))
    with contextlib.suppress(Exception):
        found = _added_to(code)
        waiting = [table := symtable.symtable(ast.unparse(code), "cell", "exec")]
        while waiting:
            block = waiting.pop()
            waiting += block.get_children()
            found |= {
                one.get_name()
                for one in block.get_symbols()
                if one.is_referenced() and (block is table or one.is_global())
            }
        return frozenset(found)
    return frozenset(WORD.findall(text))


@lru_cache(maxsize=4_096)
def needed(text: str) -> frozenset[str]:
    """The names that a cell uses before it has bound them for certain itself."""
    code = tree(text)
    if code is None or BY_TEXT & used(text):
        return used(text)
    return frozenset(_missing(code.body, set()))


def certain(text: str) -> frozenset[str]:
    """The names that a cell binds whenever it runs to its end."""
    code = tree(text)
    return frozenset().union(*map(_certain, code.body)) if code else frozenset()


def _added_to(code: ast.Module) -> set[str]:
    """What is added to is read too, which the tables of symbols do not say."""
    found: set[str] = set()
    waiting: list[ast.AST] = [code]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found


def _missing(statements: list[ast.stmt], known: set[str]) -> set[str]:
    """What these statements use of what is not `known` by then; adds what they bind to it."""
    missing: set[str] = set()
    for statement in statements:
        blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        handlers = getattr(statement, "handlers", [])
        if isinstance(statement, ast.For | ast.AsyncFor):
            missing |= _used(statement.iter) - known
            inside = known | _names(statement.target)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            for item in statement.items:
                missing |= _used(item.context_expr) - known
                known |= _names(item.optional_vars)
            inside = known
        elif isinstance(statement, ast.If | ast.While):
            missing |= _used(statement.test) - known
            inside = known
        elif isinstance(statement, ast.Try):
            inside = known
        else:
            own = {statement.name} if isinstance(statement, DEFINES) else set()
            missing |= _used(statement) - known - own
            blocks = []
            inside = known
        for block in blocks + [handler.body for handler in handlers]:
            caught = {handler.name for handler in handlers if handler.body is block}
            missing |= _missing(block, inside | caught)
        missing |= frozenset().union(*(_used(h.type) for h in handlers if h.type)) - known
        known |= _certain(statement)
    return missing


def _certain(statement: ast.stmt) -> frozenset[str]:
    if isinstance(statement, ast.If | ast.For | ast.AsyncFor | ast.While | ast.Try | ast.Match):
        return frozenset()
    return bound(ast.unparse(statement))


def _used(node: ast.AST) -> frozenset[str]:
    return used(ast.unparse(node))


def _names(node: ast.AST | None) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} if node else set()
