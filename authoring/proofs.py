"""What the builder refuses of proofs, and of cells that claim to be one.

A proof runs between the cells of a page and is not on it. So it must be able to fail, and the page
must do without it.
"""

import ast
from collections.abc import Iterator

from authoring.percent import PROOF, Cell, Problem, Script

SCOPES = (
    ast.FunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def problems(script: Script, cell: Cell, claimed: list[str], lab: bool) -> Iterator[Problem]:
    """For one code cell. claimed: the ids of requirements that it carries."""
    if cell.is_proof and lab:
        yield script.problem(
            cell.line,
            "a proof in a lab, whose cells students change",
            "a check of the lab proves a task, a test in the lab's folder the rest",
        )
    for tag in cell.tags:
        if cell.is_proof and tag not in (PROOF, *claimed):
            yield script.problem(
                cell.line, f"a proof with the tag {tag}", "keep the ids of requirements beside it"
            )
    if can_fail(cell):
        return
    if cell.is_proof:
        yield script.problem(
            cell.line, "a proof that cannot fail", "assert what the page says, or leave it out"
        )
    # What a student writes is proved by the checks of the lab.
    elif claimed and not (cell.task or cell.check):
        yield script.problem(
            cell.line,
            f"{', '.join(claimed)} claimed by a cell that asserts nothing",
            'move the tag to a proof cell after it: \'# %% tags=["proof", "A7"]\'',
        )


def can_fail(cell: Cell) -> bool:
    """Whether the cell has an assert whose outcome is not known before it runs."""
    return any(
        isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant | ast.Tuple)
        for node in ast.walk(cell.tree)
    )


def names_for_the_page(script: Script) -> Iterator[Problem]:
    """Names that a proof makes, no cell of the page does, and a later one uses."""
    page = [(cell, _used(cell.tree)) for cell in script.page().code()]
    made: set[str] = set().union(*(_bound(cell.tree) for cell, _ in page))
    for proof in (cell for cell in script.code() if cell.is_proof):
        own = _bound(proof.tree, inner=False) - made
        for cell, used in page:
            if cell.line > proof.line and (missing := own & used):
                yield script.problem(
                    cell.line,
                    f"the page uses {', '.join(sorted(missing))}, which a proof makes",
                    "make it in a cell of the page",
                )


def names_of_the_page(script: Script) -> Iterator[Problem]:
    """Names that a page makes, a proof gives another value, and a later cell of the page uses.

    Who writes such a proof has the page show what no reader sees.
    """
    above: set[str] = set()
    changed: dict[str, Cell] = {}
    for cell in script.code():
        bound = _bound(cell.tree, inner=False)
        if cell.is_proof:
            changed |= dict.fromkeys(bound & above, cell)
            continue
        for name in sorted(changed.keys() & _used(cell.tree)):
            yield script.problem(
                changed[name].line,
                f"a proof gives {name} another value, and line {cell.line} of the page uses it",
                "let the proof have a name of its own",
            )
        above |= bound
        for name in bound:
            changed.pop(name, None)


def _bound(node: ast.AST, inner: bool = True) -> set[str]:
    """Names that get a value, also those inside of functions and comprehensions if asked."""
    found = set()
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
        if inner or not isinstance(child, SCOPES):
            found |= _bound(child, inner)
    return found


def _used(tree: ast.Module) -> set[str]:
    loaded = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return loaded - _bound(tree)
