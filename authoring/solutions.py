"""Solution regions: the source keeps them, the page has something else in their place.

A student of a lab gets a stub that raises, so that a blank task is never green.

    # BEGIN SOLUTION
    # STUB: choose a partition
    return zlib.crc32(key) % partitions
    # END SOLUTION

The line `# STUB:` may be left out; then the title of the task says what is to do. In an exercise
of a lesson the stub is the blank itself, as an empty exercise never stops a page; the lines of the
solution follow the cell, folded:

    # BEGIN SOLUTION
    # STUB: newest = ...
    newest = end - 1
    # END SOLUTION
"""

import ast
import json
import re
from dataclasses import dataclass

from authoring.percent import Cell, Problem, Script

BEGIN = re.compile(r"(?P<indent>\s*)# BEGIN SOLUTION\s*$")
END = re.compile(r"(?P<indent>\s*)# END SOLUTION\s*$")
STUB = re.compile(r"\s*# STUB: (?P<text>\S.*)$")
ANY_MARK = re.compile(r"#\s*(BEGIN|END)\s+SOLUTION|#\s*STUB\b", re.IGNORECASE)
CATCHES_A_STUB = {"NotImplementedError", "RuntimeError", "Exception", "BaseException"}


@dataclass(frozen=True)
class Region:
    """Line numbers within the cell, from 0; `first` and `last` are the marks themselves."""

    first: int
    last: int
    indent: str
    stub: str | None


def regions(cell: Cell) -> list[Region]:
    """Regions of a cell whose marks are in order (see problems)."""
    if "SOLUTION" not in cell.text:
        return []
    found, first, indent = [], None, ""
    for number, line in enumerate(cell.lines):
        if begin := BEGIN.match(line):
            first, indent = number, begin["indent"]
        elif END.match(line) and first is not None:
            stub = STUB.match(cell.lines[first + 1])
            found.append(Region(first, number, indent, stub["text"] if stub else None))
            first = None
    return found


def solution_text(cell: Cell) -> str:
    """The text without the marks: what the author runs."""
    marks = {
        number
        for region in regions(cell)
        for number in (
            region.first,
            region.last,
            *([region.first + 1] if region.stub else []),
        )
    }
    return "\n".join(line for number, line in enumerate(cell.lines) if number not in marks)


def student_text(cell: Cell, title: str) -> str:
    """The text with each region replaced by a line that raises and says what is to do."""
    lines = cell.lines
    for region in reversed(regions(cell)):
        message = json.dumps(f"Task {cell.task}: {region.stub or title}", ensure_ascii=False)
        lines[region.first : region.last + 1] = [
            f"{region.indent}raise NotImplementedError({message})"
        ]
    return "\n".join(lines)


def blank_text(cell: Cell) -> str:
    """The text of an exercise with each region replaced by its blank."""
    lines = cell.lines
    for region in reversed(regions(cell)):
        lines[region.first : region.last + 1] = [f"{region.indent}{region.stub or ''}".rstrip()]
    return "\n".join(lines)


def folded(cell: Cell) -> str:
    """One answer of an exercise, out of sight until it is asked for."""
    found = [
        line[len(region.indent) :]
        for region in regions(cell)
        for line in cell.lines[region.first + 1 + bool(region.stub) : region.last]
    ]
    code = "\n".join(found)
    return f"<details><summary>One answer</summary>\n\n```python\n{code}\n```\n\n</details>"


def problems(script: Script, cell: Cell, title: str) -> list[Problem]:
    """What is wrong with the regions of one code cell."""
    found = _problems_of_marks(script, cell)
    if found:
        return found
    if cell.is_exercise:
        return _problems_of_blank(script, cell)
    if cell.task is None:
        return [
            script.problem(
                cell.line + region.first,
                "a solution outside a task cell",
                'give the cell tags=["task-N"] in a lab, tags=["exercise"] in a lesson',
            )
            for region in regions(cell)
        ]
    if not regions(cell):
        return [
            script.problem(
                cell.line,
                f"task {cell.task} has no solution region, so its blank cell would run green",
                "put what the student writes between '# BEGIN SOLUTION' and '# END SOLUTION'",
            )
        ]
    return _problems_of_stub(script, cell, title)


def _problems_of_marks(script: Script, cell: Cell) -> list[Problem]:
    found: list[Problem] = []
    opened: int | None = None
    indent = ""
    for number, line in enumerate(cell.lines):
        here = cell.line + number
        if begin := BEGIN.match(line):
            if opened is not None:
                found.append(
                    script.problem(here, "a solution inside a solution", "close the first one")
                )
            opened, indent = number, begin["indent"]
        elif end := END.match(line):
            if opened is None:
                found.append(
                    script.problem(
                        here, "the end of a solution that never began", "add '# BEGIN SOLUTION'"
                    )
                )
            elif _is_empty(cell.lines[opened + 1 : number]):
                found.append(
                    script.problem(cell.line + opened, "an empty solution", "write the solution")
                )
            elif end["indent"] != indent:
                found.append(
                    script.problem(
                        here, "marks of a solution at two indentations", "indent both alike"
                    )
                )
            opened = None
        elif STUB.match(line) and opened == number - 1 and opened is not None:
            continue
        elif ANY_MARK.search(line):
            found.append(
                script.problem(
                    here,
                    f"a mark that is not understood: {line.strip()}",
                    "write '# BEGIN SOLUTION', then '# STUB: what is to do' if wanted, then "
                    "'# END SOLUTION', each on a line of its own",
                )
            )
    if opened is not None:
        found.append(
            script.problem(
                cell.line + opened, "a solution that is never closed", "add '# END SOLUTION'"
            )
        )
    return found


def _is_empty(lines: list[str]) -> bool:
    return all(not line.strip() or line.strip().startswith("#") for line in lines)


def _problems_of_stub(script: Script, cell: Cell, title: str) -> list[Problem]:
    text = student_text(cell, title)
    try:
        tree = Cell("code", (), text, 1).tree
    except SyntaxError as error:
        return [
            script.problem(
                cell.line,
                f"task {cell.task} without its solution is not Python: {error.msg}",
                "indent the marks like the code that they replace",
            )
        ]
    if any(_hides_a_stub(node) for node in ast.walk(tree)):
        return [
            script.problem(
                cell.line,
                f"the blank task {cell.task} would run green: a try block catches its stub",
                "put the whole try block into the solution",
            )
        ]
    return []


def _problems_of_blank(script: Script, cell: Cell) -> list[Problem]:
    found = regions(cell)
    if not found or any("..." not in (region.stub or "") for region in found):
        return [
            script.problem(
                cell.line,
                "an exercise without a blank",
                "put the answer between '# BEGIN SOLUTION' and '# END SOLUTION', and '# STUB: "
                "name = ...' as its first line",
            )
        ]
    try:
        Cell("code", (), blank_text(cell), 1).tree  # noqa: B018 (compiled for its error)
    except SyntaxError as error:
        return [
            script.problem(
                cell.line,
                f"an exercise that is not Python while it is blank: {error.msg}",
                "write the blank as an assignment: name = ...",
            )
        ]
    return []


def _hides_a_stub(node: ast.AST) -> bool:
    """Whether the node is a try block that swallows a stub in its body."""
    if not isinstance(node, ast.Try) or not any(map(_catches_a_stub, node.handlers)):
        return False
    return any(
        isinstance(inner, ast.Raise)
        and isinstance(inner.exc, ast.Call)
        and getattr(inner.exc.func, "id", "") == "NotImplementedError"
        for statement in node.body
        for inner in ast.walk(statement)
    )


def _catches_a_stub(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(getattr(node, "id", "") in CATCHES_A_STUB for node in ast.walk(handler.type))
