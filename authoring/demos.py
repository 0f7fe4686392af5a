"""Cells of a lab that only show something. Grading leaves them out where it can, so nothing of
ours may need them."""

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass

from authoring.percent import Problem, Script


def problems(script: Script) -> Iterator[Problem]:
    """Cells that need what only a demo cell defines."""
    bound: set[str] = set()
    shown: dict[str, int] = {}
    for cell in script.code():
        names = _names(cell.tree)
        if "demo" in cell.tags:
            shown |= dict.fromkeys(names.bound - bound - shown.keys(), cell.line)
            continue
        for name in sorted((names.used - bound - names.bound) & shown.keys()):
            yield script.problem(
                cell.line,
                f"needs {name} of the demo cell in line {shown[name]}, which grading leaves out",
                "define it here too",
            )
        bound |= names.bound


@dataclass(frozen=True)
class _Names:
    bound: frozenset[str]
    used: frozenset[str]


def _names(tree: ast.Module) -> _Names:
    """What a cell defines at its top level, and all that is used in it."""
    table = symtable.symtable(ast.unparse(tree), "cell", "exec")
    bound = {
        one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()
    }
    used: set[str] = set()
    waiting = [table]
    while waiting:
        block = waiting.pop()
        waiting += block.get_children()
        top = block is table
        used |= {
            one.get_name()
            for one in block.get_symbols()
            if one.is_referenced() and (top or one.is_global())
        }
    return _Names(frozenset(bound), frozenset(used))
