"""How large a page is, against what one sitting holds.

Counted is what a reader has: the page without its proofs, with stubs in the place of solutions.
Above a figure the build says so; above a limit a test fails.
"""

import ast
import re
from dataclasses import asdict, dataclass

from authoring import rules, solutions, style
from authoring.percent import Cell, Script

# What is counted -> how much of it a reader of 20 to 25 minutes holds.
FIGURES = {
    "words": 1_200,
    "cells": 20,
    "longest_cell": 12,
    "ideas": 5,
    "terms": 6,
    "parallel_assignments": 3,
    "tuple_asserts": 3,
}
# Above these no page is shipped.
LIMITS = {"words": 2_000, "cells": 36, "longest_cell": 20}
TERM = re.compile(r"\*\*([^*\n]+)\*\*")


@dataclass(frozen=True)
class Sizes:
    """What FIGURES and LIMITS are about, for one script."""

    page: str
    words: int
    """Of prose."""
    cells: int
    """With code; the check cells of a lab, which are all alike, do not count."""
    longest_cell: int
    """Lines, without empty ones."""
    ideas: int
    """Sections that are neither one of the closing ones nor a task."""
    terms: int
    """Different words in bold, after the opening."""
    parallel_assignments: int
    """As in `a, b = 1, 2`; in proofs too."""
    tuple_asserts: int
    """As in `assert (a, b) == (1, 2)`; in proofs too."""

    def above(self, most: dict[str, int]) -> list[str]:
        """The names of what is larger than `most` says."""
        values = asdict(self)
        return [name for name, limit in most.items() if values[name] > limit]


def measure(script: Script) -> Sizes:
    page = script.page()
    code = list(page.code())
    nodes = [node for cell in script.code() for node in ast.walk(cell.tree)]
    return Sizes(
        page=rules.name(script),
        words=sum(len(re.findall(r"\S*\w\S*", cell.text)) for cell in page.prose()),
        cells=sum(cell.check is None for cell in code),
        longest_cell=max(map(lines, code), default=0),
        ideas=sum(not rules.HEADING.match(f"## {part.heading}") for part in style.ideas(page)),
        terms=len({term.lower() for cell in page.cells[2:] for term in _terms(cell)}),
        parallel_assignments=sum(map(_is_parallel, nodes)),
        tuple_asserts=sum(map(_compares_tuples, nodes)),
    )


def lines(cell: Cell) -> int:
    """Lines of a code cell as a reader gets it, without empty ones."""
    text = cell.text
    if cell.task:
        text = solutions.student_text(cell, "")
    elif cell.is_exercise:
        text = solutions.blank_text(cell)
    return sum(bool(line.strip()) for line in text.split("\n"))


def _terms(cell: Cell) -> list[str]:
    return TERM.findall(cell.text) if cell.kind == "markdown" else []


def _is_parallel(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Tuple | ast.List)
        and any(isinstance(target, ast.Tuple | ast.List) for target in node.targets)
    )


def _compares_tuples(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare)):
        return False
    if any(isinstance(operator, ast.In | ast.NotIn) for operator in node.test.ops):
        return False
    return any(isinstance(side, ast.Tuple) for side in (node.test.left, *node.test.comparators))
