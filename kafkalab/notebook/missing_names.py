"""A cell that is run before the one that it needs: which one that is, in a sentence.

Python says `name 'cluster' is not defined`, and nothing more. Here a note is added to the error, as
anybody may add one to an exception; its name, its text and the usual traceback stay what they are.
"""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from kafkalab.notebook import page

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

LONGEST = 60
# Names that are stored in these are not names of the notebook.
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
INNER = (*FUNCTIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class CodeCell:
    """A cell of code; `heading` is the last one above it."""

    number: str
    source: str
    heading: str


def load_ipython_extension(_: InteractiveShell) -> None:
    """Kernels of `./course lab` load it at their start: no cell has imported the course yet."""
    watch()


def watch() -> None:
    """Add the sentence from now on. Nothing where no notebook runs, or where a handler is set."""
    shell = page.shell()
    if shell is not None and hasattr(shell, "kernel") and not shell.custom_exceptions:
        shell.set_custom_exc((NameError,), _show)


def cells_of(file: Path) -> list[CodeCell]:
    """The cells of code of a notebook, in order."""
    found, heading = [], ""
    for cell in json.loads(file.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            found.append(CodeCell(cell.get("id", ""), source, heading))
        elif cell["cell_type"] == "markdown":
            headings = [line for line in source.splitlines() if line.startswith("#")]
            heading = headings[-1].strip("# ") if headings else heading
    return found


def defining(name: str, cells: list[CodeCell], number: str, source: str) -> CodeCell | None:
    """The last cell above the present one that gives this name a value.

    The present one is known by its number, or by its text where no number comes with it. One that
    the file does not have yet may stand anywhere.
    """
    here = [i for i, cell in enumerate(cells) if number and cell.number == number]
    here = here or [i for i, cell in enumerate(cells) if cell.source.rstrip() == source.rstrip()]
    above = cells[: here[0]] if here else cells
    return next((cell for cell in reversed(above) if name in names_of(cell.source)), None)


def names_of(source: str) -> set[str]:
    """The names that a cell gives a value, in the notebook and not inside its functions."""
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        # What begins with % or ! is Python only after that.
        return set(_stored(ast.parse(TransformerManager().transform_cell(source))))
    except (SyntaxError, ValueError):
        return set()


def sentence(name: str, cell: CodeCell) -> str:
    """What a reader is told."""
    lines = [line.strip() for line in cell.source.splitlines()]
    first = next((line for line in lines if line and not line.startswith(("#", "%"))), "")
    first = first if len(first) <= LONGEST else f"{first[:LONGEST].rstrip()} …"
    under = f'under "{cell.heading}", ' if cell.heading else ""
    return (
        f"{name} comes from an earlier cell ({under}it begins with: {first}); "
        "run the cells above this one first (Run > Run All Above Selected Cell)."
    )


def _show(
    shell: InteractiveShell,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Show a NameError as always, with the sentence behind it where there is one."""
    # Whatever keeps us from helping, the error itself has to be shown.
    with contextlib.suppress(Exception):
        if said := _said(shell, error, trace):
            error.add_note(said)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _said(shell: InteractiveShell, error: BaseException, trace: TracebackType) -> str:
    while trace.tb_next is not None:
        trace = trace.tb_next
    name, file = getattr(error, "name", None), page.file()
    # A name that is missing in a library, or in a function's own names, is no matter of cells.
    of_page = trace.tb_frame.f_globals is shell.user_global_ns
    if not name or file is None or not of_page or isinstance(error, UnboundLocalError):
        return ""
    kernel: Any = shell.kernel  # type: ignore[attr-defined]
    number = kernel.get_parent().get("metadata", {}).get("cellId", "")
    history = shell.history_manager
    source = history.input_hist_raw[-1] if history else ""
    cell = defining(name, cells_of(file), number, source)
    return sentence(name, cell) if cell else ""


def _stored(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, FUNCTIONS):
            yield node.name
        if not isinstance(node, INNER):
            yield from _stored(node)
