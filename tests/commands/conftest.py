"""A course with the tiny lab of the grader's tests, where the commands find it."""

from pathlib import Path

import pytest

from grading.define import definition, place
from tests.grading.classroom import Classroom
from tests.grading.tiny import write_course


@pytest.fixture(scope="session")
def course(tmp_path_factory) -> Path:
    """The folder of the course."""
    return write_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def at_home(course, monkeypatch) -> None:
    """Whatever the commands are asked is asked of this course."""
    monkeypatch.setattr(place, "repository", lambda: course)


@pytest.fixture
def classroom(course, at_home, tmp_path) -> Classroom:
    """An empty course folder to grade into without a run."""
    return Classroom(tmp_path / "grades", definition.load("90", course))
