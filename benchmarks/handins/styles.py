"""The solved notebook in other people's style: the same steps, written in another way."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from nbformat import NotebookNode

from benchmarks.handins.solved import Change, parsed, tasks, with_mark
from grading.handin import code

DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def _rewritten(notebook: NotebookNode, write: Callable[[int, list[ast.stmt]], str]) -> None:
    for number, cell in tasks(notebook):
        cell.source = with_mark(cell, write(number, parsed(cell).body))


def _text(statements: list[ast.stmt]) -> str:
    return "\n".join(map(ast.unparse, statements)) or "pass"


def _inside(text: str) -> str:
    # unparsed texts have no line of their own within a string
    return "\n".join(f"    {line}" for line in text.splitlines())


def _apart(body: list[ast.stmt]) -> tuple[str, list[ast.stmt], str]:
    """Imports and definitions, the steps, and the value that the cell ends with."""
    defined = [statement for statement in body if isinstance(statement, DEFINES)]
    steps = [statement for statement in body if statement not in defined]
    last = steps.pop() if steps and isinstance(steps[-1], ast.Expr) else None
    return _text(defined), steps, ast.unparse(last) if last else ""


def _function(name: str, steps: list[ast.stmt], keyword: str = "def") -> str:
    """The steps as a function; what they leave is global."""
    names = ", ".join(sorted(code.bound(_text(steps))))
    told = f"    global {names}\n" if names else ""
    return f"{keyword} {name}():\n{told}{_inside(_text(steps))}"


def _as_functions(notebook: NotebookNode, call: str, keyword: str = "def") -> None:
    """The steps of every task in a function of their own, which is called."""

    def write(number: int, body: list[ast.stmt]) -> str:
        defined, steps, last = _apart(body)
        name = f"answer_{number}"
        made = f"{_function(name, steps, keyword)}\n\n\n{call.format(name)}" if steps else ""
        return f"{defined}\n\n\n{made}\n{last}"

    _rewritten(notebook, write)


def in_functions(notebook: NotebookNode) -> None:
    """Every task is a function that is called."""
    _as_functions(notebook, "{}()")


def awaited(notebook: NotebookNode) -> None:
    """Every task is a coroutine, awaited at the end of its cell."""
    _as_functions(notebook, "await {}()", "async def")


def in_a_thread(notebook: NotebookNode) -> None:
    """Every task runs in a thread."""
    call = "import concurrent.futures\nwith concurrent.futures.ThreadPoolExecutor(1) as thread_1:\n"
    _as_functions(notebook, f"{call}    thread_1.submit({{}}).result()")


def in_classes(notebook: NotebookNode) -> None:
    """Every task is a method of a class."""

    def write(number: int, body: list[ast.stmt]) -> str:
        defined, steps, last = _apart(body)
        method = _inside(f"@staticmethod\n{_function('run', steps)}")
        made = f"class Answer{number}:\n{method}\n\n\nAnswer{number}.run()" if steps else ""
        return f"{defined}\n\n\n{made}\n{last}"

    _rewritten(notebook, write)


def as_a_main_program(notebook: NotebookNode) -> None:
    """The steps of every task stand below `if __name__ == "__main__":`."""

    def write(number: int, body: list[ast.stmt]) -> str:
        defined, steps, last = _apart(body)
        return f"{defined}\nif __name__ == '__main__':\n{_inside(_text(steps))}\n{last}"

    _rewritten(notebook, write)


def tried_again(notebook: NotebookNode) -> None:
    """The steps of every task in a loop of tries that ends with the first success."""

    def write(number: int, body: list[ast.stmt]) -> str:
        defined, steps, last = _apart(body)
        tried = f"try:\n{_inside(_text(steps))}\n    break\nexcept ValueError as problem:\n"
        tried += "    print('again', problem)"
        return f"{defined}\nfor try_number in range(3):\n{_inside(tried)}\n{last}"

    _rewritten(notebook, write)


class _Annotated(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node  # a name that is global or nonlocal must not be annotated

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return node
        return ast.AnnAssign(node.targets[0], ast.Name("object"), node.value, simple=1)


class _Walrus(_Annotated):
    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return node
        return ast.Expr(ast.NamedExpr(node.targets[0], node.value))


def annotated(notebook: NotebookNode) -> None:
    """Every name has a type."""
    _rewritten(notebook, lambda _, body: _text([_Annotated().visit(one) for one in body]))


def with_walrus(notebook: NotebookNode) -> None:
    """Every value is given its name within an expression."""
    _rewritten(notebook, lambda _, body: _text([_Walrus().visit(one) for one in body]))


def by_globals(notebook: NotebookNode) -> None:
    """Values are put into the notebook's names without an assignment."""

    def write(number: int, body: list[ast.stmt]) -> str:
        lines = []
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    lines.append(f"globals()[{name!r}] = {ast.unparse(value)}")
                case _:
                    lines.append(ast.unparse(statement))
        return "\n".join(lines)

    _rewritten(notebook, write)


def in_one_line(notebook: NotebookNode) -> None:
    """Simple statements in a row, with semicolons between them."""

    def write(number: int, body: list[ast.stmt]) -> str:
        text = ""
        for statement in body:
            here = ast.unparse(statement)
            is_short = "\n" not in here and not isinstance(statement, ast.For | ast.With | ast.If)
            is_open = text and not text.endswith("\n")
            text += f"{'; ' if is_open and is_short else chr(10) if is_open else ''}{here}"
            text += "" if is_short else "\n"
        return text

    _rewritten(notebook, write)


def with_tabs(notebook: NotebookNode) -> None:
    """Indented with tabs, without comments."""

    def write(number: int, body: list[ast.stmt]) -> str:
        lines = _text(body).splitlines()
        return "\n".join(re.sub(r"^( {4})+", lambda m: "\t" * (len(m[0]) // 4), x) for x in lines)

    _rewritten(notebook, write)


def with_magics(notebook: NotebookNode) -> None:
    """Magics and commands of the shell around the steps."""
    for _, cell in tasks(notebook):
        above = "%matplotlib inline\n%load_ext autoreload\n!echo hello\nfiles = %ls"
        cell.source = with_mark(cell, f"{above}\n{cell.source.partition(chr(10))[2]}")


def timed(notebook: NotebookNode) -> None:
    """A cell magic above the mark."""
    for _, cell in tasks(notebook):
        cell.source = f"%%time\n{cell.source}"


def talkative(notebook: NotebookNode) -> None:
    """Prints, warnings and log lines between the steps."""

    def write(number: int, body: list[ast.stmt]) -> str:
        lines = ["import logging, sys, warnings"]
        for at, statement in enumerate(body):
            lines += [f"print('step {at} of task {number}')", f"logging.warning('at {at}')"]
            lines += [f"print('debug', {at}, file=sys.stderr)", ast.unparse(statement)]
        return "\n".join([lines[0], "warnings.warn('beware')", *lines[1:]])

    _rewritten(notebook, write)


STYLES: tuple[Change, ...] = (
    in_functions, awaited, in_a_thread, in_classes, as_a_main_program, tried_again, annotated,
    with_walrus, by_globals, in_one_line, with_tabs, with_magics, timed, talkative,
)  # fmt: skip
