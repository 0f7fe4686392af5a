"""A course with one tiny lab that needs no cluster, and a way to hand in for it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from grading.define import definition
from grading.define.definition import Definition
from grading.handin.weave import HandedIn, as_handed_in
from grading.run.attempt import Attempt, Attempted
from grading.run.job import Job
from tests.grading.classroom import Classroom
from tests.grading.tiny import NAME, write_course


@pytest.fixture(scope="session")
def course(tmp_path_factory) -> Path:
    """The folder of the course."""
    return write_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="session")
def tiny(course) -> Definition:
    return definition.load(NAME, course)


@pytest.fixture
def changed(tmp_path) -> Callable[[str, Mapping[str, str]], Definition]:
    """The tiny lab with other words in one of its files: changed("lab.toml", {"3": "60"})."""

    def change(name: str, words: Mapping[str, str]) -> Definition:
        root = write_course(tmp_path / "changed")
        (file,) = root.rglob(f"90_tiny/{name}")
        text = file.read_text()
        for old, new in words.items():
            assert old in text, f"nothing to change in {name}"
            text = text.replace(old, new)
        file.write_text(text)
        return definition.load(NAME, root)

    return change


@pytest.fixture(scope="session")
def blank(course):
    from authoring.build import student_notebook

    return student_notebook(NAME, course)


@pytest.fixture(scope="session")
def solved(course):
    from authoring.build import solution_notebook

    return solution_notebook(NAME, course)


@pytest.fixture
def hand_in(tiny, solved) -> Callable[..., Attempted]:
    """Run the solution with some answers replaced: hand_in(t2="…")."""

    def run(cells: Sequence[HandedIn] | None = None, student: str = "anna", **answers: str):
        if cells is None:
            cells = [
                HandedIn(cell.id, cell.kind, answers.get(cell.id.replace("task-", "t"), cell.text))
                for cell in as_handed_in(solved)
            ]
        return Attempt(tiny).run(Job(student, f"seed of {student}", cells))

    return run


@pytest.fixture
def classroom(tiny, tmp_path) -> Classroom:
    """An empty course folder to grade into without a run."""
    return Classroom(tmp_path / "grades", tiny)
