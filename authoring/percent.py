"""Percent scripts: text with `# %%` marks, taken apart into cells that know their line numbers.

jupytext reads the same format and a test compares the two. It gives no line numbers and turns
code under a markdown mark silently into prose, so the builder reads the scripts itself.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from grading.define.marks import CHECK, TASK

MARK = re.compile(r"# %%(?P<rest>.*)$")
OPTIONS = re.compile(r"(?P<markdown> \[markdown\])?( tags=(?P<tags>\[.*\]))?\s*$")
PROOF = "proof"
EXERCISE = "exercise"


@dataclass(frozen=True, order=True)
class Problem:
    """One thing an author has to mend, and how."""

    path: str
    line: int
    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}; {self.mend}"


class BadScript(Exception):
    """A script that cannot become a notebook. Carries every problem, not the first one alone."""

    def __init__(self, problems: list[Problem]):
        self.problems = sorted(problems)
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True)
class Cell:
    """A cell of a script. `line` is where its first line of text stands in the file."""

    kind: str  # "markdown" or "code"
    tags: tuple[str, ...]
    text: str
    line: int

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def tree(self) -> ast.Module:
        """The Python of a code cell; `await` on the top level is allowed, as in Jupyter."""
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        return compile(self.text, "cell", "exec", flags)

    def number(self, pattern: re.Pattern[str]) -> int | None:
        """The N of its tag task-N or check-N."""
        found = [match[1] for tag in self.tags if (match := pattern.match(tag))]
        return int(found[0]) if found else None

    @property
    def is_proof(self) -> bool:
        """Whether it proves what the page says, and stands in the script alone."""
        return PROOF in self.tags

    @property
    def is_exercise(self) -> bool:
        """Whether a reader of a lesson fills in a blank here."""
        return EXERCISE in self.tags

    @property
    def task(self) -> int | None:
        return self.number(TASK)

    @property
    def check(self) -> int | None:
        return self.number(CHECK)


@dataclass
class Script:
    path: str
    cells: list[Cell]
    problems: list[Problem] = field(default_factory=list)  # met while reading

    def problem(self, line: int, what: str, mend: str) -> Problem:
        return Problem(self.path, line, what, mend)

    def page(self) -> "Script":
        """What a reader has of it: the script without its proofs."""
        return Script(self.path, [cell for cell in self.cells if not cell.is_proof], self.problems)

    def code(self) -> Iterator[Cell]:
        return (cell for cell in self.cells if cell.kind == "code")

    def prose(self) -> Iterator[Cell]:
        return (cell for cell in self.cells if cell.kind == "markdown")


@lru_cache(maxsize=128)
def read(text: str, path: str) -> Script:
    """Cells of a percent script. `path` is only used to name the place of a problem.

    The same text gives the same object again, which nobody changes: to parse the cells is slow.
    """
    script = Script(path, [])
    lines = text.splitlines()
    marks = {
        number: match["rest"] for number, line in enumerate(lines) if (match := MARK.match(line))
    }
    starts = list(marks)
    for number, line in enumerate(lines[: starts[0] if starts else None]):
        if line.strip():
            script.problems.append(
                script.problem(
                    number + 1,
                    "text before the first cell mark",
                    "begin the file with '# %% [markdown]'",
                )
            )
            break
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        _add_cell(script, start + 1, marks[start], lines[start + 1 : end])
    return script


def _add_cell(script: Script, mark_line: int, rest: str, body: list[str]) -> None:
    options = OPTIONS.match(rest)
    if not options:
        script.problems.append(
            script.problem(
                mark_line,
                f"a cell mark that is not understood: # %%{rest}",
                "write '# %%', '# %% [markdown]' or either with ' tags=[\"name\"]' behind it",
            )
        )
        return
    tags = _tags(script, mark_line, options["tags"] or "[]")
    kind = "markdown" if options["markdown"] else "code"
    first = next((number for number, line in enumerate(body) if line.strip()), len(body))
    while body and not body[-1].strip():
        body.pop()
    if not body:
        script.problems.append(
            script.problem(mark_line, "an empty cell", "write its text or remove the mark")
        )
        return
    line = mark_line + 1 + first
    body = body[first:]
    if kind == "markdown":
        body = [_prose(script, line + number, text) for number, text in enumerate(body)]
        while body and not body[-1].strip():
            body.pop()
    cell = Cell(kind, tags, "\n".join(body), line)
    if not cell.text.strip():
        script.problems.append(
            script.problem(mark_line, "an empty cell", "write its text or remove the mark")
        )
        return
    if kind == "code":
        try:
            cell.tree  # noqa: B018 - reading it is the test
        except SyntaxError as error:
            script.problems.append(
                script.problem(
                    line + (error.lineno or 1) - 1,
                    f"not Python: {error.msg}",
                    "mend the code (prose needs the mark '# %% [markdown]')",
                )
            )
            return
    script.cells.append(cell)


def _tags(script: Script, line: int, text: str) -> tuple[str, ...]:
    try:
        tags = json.loads(text)
    except json.JSONDecodeError:
        tags = None
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        script.problems.append(
            script.problem(line, f"tags that are no list of names: {text}", 'write tags=["name"]')
        )
        return ()
    return tuple(tags)


def _prose(script: Script, line: int, text: str) -> str:
    if text.startswith("# "):
        return text[2:]
    if text.strip() in {"", "#"}:
        return ""
    script.problems.append(
        script.problem(
            line,
            f"under a markdown mark stands a line that does not begin with '# ': {text.strip()}",
            "put '# %%' before code, '# ' before prose",
        )
    )
    return text
