import pytest

from tools import percent
from tools.build import Course
from tools.percent import Script

COURSE = Course()
SOURCES = COURSE.sources()
TEMPLATES = sorted((COURSE.root / "lessons").glob("*TEMPLATE.py"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`script` is each lesson, lab and template; `lab` each lab: found by glob, never listed."""
    for name, files in (
        ("script", [*SOURCES, *TEMPLATES]),
        ("lab", [source for source in SOURCES if source.parent.name == "labs"]),
    ):
        if name in metafunc.fixturenames:
            ids = [file.stem for file in files]
            metafunc.parametrize(name, [read(file) for file in files], ids=ids)


def read(file) -> Script:
    return percent.read(file.read_text("utf-8"), file.relative_to(COURSE.root).as_posix())


@pytest.fixture(scope="session")
def course() -> Course:
    return COURSE


@pytest.fixture(scope="session")
def scripts() -> list[Script]:
    return [read(source) for source in SOURCES]
