"""Every lesson and every lab is put together in the same way.

Each failure is a list of `file:line: what; how to mend it`. That each rule catches what it is for
is tested in tests/authoring. How a page reads, and its words, the build tells and no test.
"""

import ast
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path, PurePosixPath

import nbformat
import pytest
from nbformat import NotebookNode

from authoring import chores, notebooks, rules, solutions, style
from authoring.build import Course
from authoring.percent import Problem, Script
from grading.define.definition import hints
from grading.define.place import Place

LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")


def report(problems: list[Problem]) -> None:
    assert not problems, "\n" + "\n".join(map(str, problems))


def test_the_builder_accepts_it(course: Course, template: Course) -> None:
    course.scripts()
    template_lab = template.masters()[0]
    known = set(hints(Place(template.root, template_lab.parent.name)))
    for source, asked in ((template.lessons()[0], None), (template_lab, known)):
        path = source.relative_to(template.root).as_posix()
        notebooks.checked(source.read_text("utf-8"), path, asked)


def test_it_follows_the_template(script: Script) -> None:
    report(style.problems(script))


def test_it_leaves_chores_to_the_package(script: Script) -> None:
    """Among them everything that Kafka 4 no longer has."""
    report(sorted(chores.chores(script)))


# Their analysis with Spark stands in the middle. A lab leaves this list, and none comes on it.
ANALYSED_EARLIER = {"lab03_stock_producer", "lab05_delivery", "lab06_groups"}


def test_every_lab_predicts_and_analyses(lab: Script) -> None:
    problems = [*style.lab_parts(lab)]
    if rules.name(lab) not in ANALYSED_EARLIER:
        problems += style.analysis_at_the_end(lab)
    report(sorted(problems))


@pytest.fixture(scope="module")
def products(course: Course) -> dict[PurePosixPath, str]:
    return course.products()


def test_committed_notebooks_are_built_from_their_scripts(course: Course, products) -> None:
    report(course.differences(products))


def test_committed_notebooks_hold_no_outputs(course: Course) -> None:
    for folder in ("notebooks", "labs"):
        for path in sorted((course.root / folder).glob("*.ipynb")):
            for cell in nbformat.read(path, 4).cells:
                if cell.cell_type == "code":
                    assert not cell.outputs, f"{path.name}: outputs; run ./course build"
                    assert cell.execution_count is None, f"{path.name}: run ./course build"


def test_every_link_between_the_pages_resolves(course: Course, products) -> None:
    for path, text in products.items():
        prose = text
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            prose = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        for target in broken_links(prose, (course.root / path).parent):
            raise AssertionError(f"{path}: no such file: {target}; mend the link")


def broken_links(text: str, folder: Path) -> list[str]:
    """Relative targets that are no file; for a README also the heading after the '#'."""
    broken = []
    for match in LINK.finditer(text):
        file, _, heading = match["target"].partition("#")
        if re.match(r"[a-z]+:", file):
            continue
        if file and not (folder / file).exists():
            broken.append(match["target"])
        elif heading and file.endswith(".md"):
            headings = re.findall(r"^#+ (.*)$", (folder / file).read_text("utf-8"), re.MULTILINE)
            if heading not in {re.sub(r"\W+", "-", title.lower()).strip("-") for title in headings}:
                broken.append(match["target"])
    return broken


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Course\n\n## Lessons\n")
    text = "[a](gone.ipynb) [b](README.md#lessons) [c](README.md#labs) [d](https://x.org/y)"
    assert broken_links(text, tmp_path) == ["gone.ipynb", "README.md#labs"]


@cache
def student_page(root: Path, lab: str) -> NotebookNode:
    """What the builder makes of a lab, for all tests that look at it."""
    return notebooks.student_notebook((root / lab).read_text("utf-8"), lab)


def test_the_student_sees_no_line_of_a_solution(lab: Script, course: Course) -> None:
    student = Counter(
        line.strip()
        for cell in student_page(course.root, lab.path).cells
        for line in cell.source.splitlines()
    )
    allowed = Counter(
        line.strip()
        for page in lab.cells
        for n, line in enumerate(page.lines)
        if not any(r.first < n < r.last for r in solutions.regions(page))
    )
    for cell in lab.code():
        regions = solutions.regions(cell)
        inside = {n for region in regions for n in range(region.first + 1, region.last)}
        for number in sorted(inside):
            line = cell.lines[number].strip()
            assert not line or student[line] <= allowed[line], (
                f"{lab.path}:{cell.line + number}: this line of the solution reaches the student"
            )


def test_the_student_sees_no_name_of_a_hidden_check(lab: Script, course: Course) -> None:
    hidden = (course.root / lab.path).with_name("hidden.py")
    assert hidden.exists(), (
        f"{lab.path}:1: no hidden checks; write {hidden.relative_to(course.root)}"
    )
    names = [
        node.name
        for node in ast.walk(ast.parse(hidden.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    student = notebooks.to_text(student_page(course.root, lab.path))
    for name in names:
        assert not re.search(rf"\b{name}\b", student), f"{lab.path}:1: names hidden check {name}"


def test_the_generator_of_the_student_file_is_tested_on_the_template(template: Course) -> None:
    text = template.masters()[0].read_text("utf-8")
    student = notebooks.to_text(notebooks.student_notebook(text, "grading/labs/00_title/lab.py"))
    assert "zlib.crc32" in text
    assert "zlib.crc32" not in student
    assert 'NotImplementedError(\\"Task 2: choose a partition\\")' in student


def test_two_numbers_never_stand_side_by_side(script: Script) -> None:
    """Such as "without broker 0 4 leaders moved": a reader takes them for one."""
    report(
        [
            script.problem(cell.line, f"{found[0]!r}", "put a word between the two numbers")
            for cell in script.code()
            for found in re.finditer(r"""\bf["'].*?\b\d+ (?=\{)""", cell.text)
        ]
    )
