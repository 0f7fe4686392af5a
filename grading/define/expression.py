"""What a check asks a notebook for: an expression in Python."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator


def names_in(expression: str) -> Iterator[str]:
    """The names of a notebook that an expression asks for, in their order."""
    nodes = list(ast.walk(ast.parse(expression.strip(), mode="eval")))
    names = sorted(
        (node for node in nodes if isinstance(node, ast.Name)),
        key=lambda node: (node.lineno, node.col_offset),
    )
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    yield from (n.id for n in names if n.id not in own and not hasattr(builtins, n.id))
