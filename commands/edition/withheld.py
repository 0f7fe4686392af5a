"""What must not reach students, looked for by its content in what is given out.

Solutions, hidden checks, wrong answers and the proofs of lessons are text that could lie anywhere:
in a cell that somebody solved, in an output, in a comment, in an archive. So it is looked for as a
run of letters, whatever the layout and the quotes are, in every file and in what files hold. What
the pages give to everybody, also in another place, is no secret.
"""

from __future__ import annotations

import ast
import io
import json
import re
import textwrap
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from authoring import notebooks, solutions
from authoring.build import Course
from authoring.percent import Script
from grading.define.place import Place

LONG_ENOUGH = 100
"""Letters that nobody writes by chance."""
TOO_SHORT = 20
"""Of a whole text: what is shorter may stand anywhere."""
A_PIECE = 25
"""Of what a wrong answer puts in place of a piece: a shorter one is an expression of anybody."""
LAYOUT = re.compile(r"""[\s"'#\\>|`]+""")


@dataclass(frozen=True)
class Withheld:
    """A text that is kept back, the name of a check or a typed answer, and where it stands."""

    place: str
    text: str
    kind: Literal["text", "piece", "name", "answer"] = "text"

    @property
    def lab(self) -> tuple[str, ...]:
        """The student's half of the lab that it is of."""
        return PurePosixPath(self.place).parts[1:3]

    def parts(self) -> Iterator[str]:
        """Each tells where the text is: from every line on so many letters, as `compact` has them.

        Of a text that is shorter, all of it.
        """
        least = A_PIECE if self.kind == "piece" else TOO_SHORT
        lines = [compact(line) for line in self.text.splitlines()]
        whole, at = "".join(lines), 0
        for line in lines:
            part = whole[at : at + LONG_ENOUGH]
            if line and len(part) >= (least if at == 0 else LONG_ENOUGH):
                yield part
            at += len(line)


def compact(text: str) -> str:
    """The letters of a text without its layout, quotes and marks of comments."""
    return LAYOUT.sub("", text)


def typed(code: str, page: str = "") -> Iterator[tuple[int, str]]:
    """The dictionaries, lists and sets that code spells out, with their lines: of two entries at
    least, in no order. Not those of which it asks only what is `in` them, in words of the `page`.
    """
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return
    asked = {
        id(side)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for side, how in zip(node.comparators, node.ops, strict=True)
        if isinstance(how, ast.In | ast.NotIn)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict | ast.List | ast.Set | ast.Tuple):
            try:
                value = ast.literal_eval(node)
            except (ValueError, TypeError):
                continue
            entries = value.items() if isinstance(value, dict) else value
            if id(node) in asked and all(f'"{one}"' in page for one in entries):
                continue
            if len(entries) > 1:
                yield node.lineno, repr(sorted(map(repr, entries)))


def leaks(root: Path, files: Mapping[PurePosixPath, bytes]) -> Iterator[str]:
    """Where `files` hold something of the course at `root` that students must not get."""
    scripts = Course(root).scripts()
    given = compact("\n".join(text for script in scripts for text in _given(script)))
    secrets = [one for script in scripts for one in _withheld(root, script)]
    parts = {
        part: one.place
        for one in secrets
        if one.kind in {"text", "piece"}
        for part in one.parts()
        if part not in given
    }
    names = {one.text: one.place for one in secrets if one.kind == "name"}
    answers = {(one.lab, one.text): one.place for one in secrets if one.kind == "answer"}
    any_name = re.compile(rf"\b(?:{'|'.join(map(re.escape, names)) or '(?!)'})\b")
    for path, content in files.items():
        text = "\n".join(_texts(content))
        letters = compact(text)
        for place in dict.fromkeys(place for part, place in parts.items() if part in letters):
            yield f"{path} holds a part of {place}"
        for name in dict.fromkeys(any_name.findall(text)):
            yield f"{path} names {name}, a check in {names[name]}"
        if path.suffix == ".py":
            for line, answer in typed(text):
                # Among other things the same few numbers mean something else.
                if told := answers.get((path.parts[:2], answer)):
                    yield f"{path}:{line} tells an answer in {told}"


def _given(script: Script) -> Iterator[str]:
    """What everybody reads on a page, also the folded answers of exercises."""
    for cell in notebooks.with_answers(script.page()).cells:
        lines = cell.lines
        if cell.kind == "code":
            for region in reversed(solutions.regions(cell)):
                del lines[region.first : region.last + 1]
        yield "\n".join(lines)


def _withheld(root: Path, script: Script) -> Iterator[Withheld]:
    page = "\n".join(_given(script))
    for cell in script.code():
        if cell.is_proof:
            yield Withheld(f"{script.path}:{cell.line}", cell.text)
        for region in solutions.regions(cell):
            text = "\n".join(cell.lines[region.first + 1 + bool(region.stub) : region.last])
            there = f"{script.path}:{cell.line + region.first}"
            yield Withheld(there, text)
            for _, answer in typed(textwrap.dedent(text), page):
                yield Withheld(there, answer, "answer")
    if script.path.startswith("grading/labs/"):
        yield from _of_the_teacher(Place(root, PurePosixPath(script.path).parent.name))


def _of_the_teacher(place: Place) -> Iterator[Withheld]:
    folder = place.teacher.relative_to(place.root)
    hidden = place.teacher / "hidden.py"
    if hidden.exists():
        for node in ast.parse(hidden.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                there = f"{(folder / hidden.name).as_posix()}:{node.lineno}"
                yield Withheld(there, ast.unparse(node))
                if node.decorator_list:
                    yield Withheld(there, node.name, "name")
    for file in sorted((place.teacher / "wrong").glob("*.toml")):
        table = tomllib.loads(file.read_text("utf-8"))
        there = (folder / "wrong" / file.name).as_posix()
        for text in (table["why"], table.get("answer", "")):
            yield Withheld(there, text)
        for text in table.get("replace", {}).values():
            yield Withheld(there, text, "piece")


def _texts(content: bytes) -> Iterator[str]:
    """The text of a file as it stands, the texts that JSON holds, and what lies in an archive."""
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield from _texts(archive.read(name))
        return
    text = content.decode("utf-8", "replace")
    yield text
    try:
        yield "\n".join(_strings(json.loads(text)))
    except ValueError:
        return


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        return (text for pair in value.items() for part in pair for text in _strings(part))
    if isinstance(value, list):
        return (text for part in value for text in _strings(part))
    return [value] if isinstance(value, str) else []
