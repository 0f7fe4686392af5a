"""No requirement is forgotten, and none is claimed that no cell shows."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

from authoring import outline
from authoring.build import Course
from authoring.percent import Script


def page(course: Course) -> str:
    return (course.root / "lessons" / "outline.md").read_text("utf-8")


def test_every_requirement_has_one_row(course: Course) -> None:
    counted = Counter(row.id for row in outline.rows(page(course)))
    assert [row for row, count in counted.items() if count > 1] == []


def test_every_table_line_is_a_row(course: Course) -> None:
    lines = [line for line in page(course).splitlines() if re.match(r"\|\s*[A-Z]\d", line)]
    assert len(lines) == len(outline.rows(page(course)))


def test_every_row_says_what_and_where(course: Course) -> None:
    head = page(course).partition("\n## ")[0]
    known = set(re.findall(r"[a-z_0-9]+", head.partition("lessons, in their order")[2]))
    for row in outline.rows(page(course)):
        assert row.what.strip(), f"lessons/outline.md:{row.line}: say what {row.id} asks"
        strange = set(row.where.split(", ")) - known - {"tests"}
        assert not strange, f"lessons/outline.md:{row.line}: the list above has no {strange}"


def test_a_row_names_what_shows_it(course: Course, scripts: list[Script]) -> None:
    """Both ways: a named lesson has the cell, and a tagged cell is named."""
    shown = outline.tags(scripts)
    for row in outline.rows(page(course)):
        named = [name for name in row.shown if "::" not in name]
        assert named == shown.get(row.id, []), (
            f"lessons/outline.md:{row.line}: {row.id} names {named or 'nothing'}, the tags say "
            f"{shown.get(row.id, 'nothing')}; run ./course build"
        )


@cache
def functions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_a_named_test_is_there(course: Course) -> None:
    for row in outline.rows(page(course)):
        for name in row.shown:
            if "::" in name:
                file, _, function = name.partition("::")
                names = functions(course.root / file)
                assert function in names, f"lessons/outline.md:{row.line}: no test {name}"
