from functools import cache
from pathlib import Path

import pytest

from authoring import percent, rules
from authoring.build import Course
from authoring.percent import Script

COURSE = Course()
SOURCES = COURSE.sources()
TEMPLATE = Course(COURSE.root / "authoring" / "template")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`script` is each lesson, lab and template; `page` each lesson and lab; `lab` each lab.

    Found by glob, never listed.
    """
    for name, files in (
        ("script", [*SOURCES, *TEMPLATE.sources()]),
        ("page", SOURCES),
        ("lab", COURSE.masters()),
    ):
        if name in metafunc.fixturenames:
            scripts = [read(file) for file in files]
            metafunc.parametrize(name, scripts, ids=[rules.name(script) for script in scripts])


@cache  # each worker collects: parsing the pages once a test function was a fifth of it
def read(file: Path) -> Script:
    root = TEMPLATE.root if file.is_relative_to(TEMPLATE.root) else COURSE.root
    return percent.read(file.read_text("utf-8"), file.relative_to(root).as_posix())


@pytest.fixture(scope="session")
def course() -> Course:
    return COURSE


@pytest.fixture(scope="session")
def template() -> Course:
    return TEMPLATE


@pytest.fixture(scope="session")
def scripts() -> list[Script]:
    return [read(source) for source in SOURCES]
