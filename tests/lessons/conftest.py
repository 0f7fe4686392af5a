import pytest

from authoring import percent
from authoring.build import Course
from authoring.percent import Script

COURSE = Course()
SOURCES = COURSE.sources()
TEMPLATES = sorted((COURSE.root / "lessons").glob("*TEMPLATE.py"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`script` is each lesson, lab and template; `lab` each lab: found by glob, never listed."""
    for name, files in (
        ("script", [*SOURCES, *TEMPLATES]),
        ("lab", COURSE.masters()),
    ):
        if name in metafunc.fixturenames:
            ids = [file.parent.name if file.name == "lab.py" else file.stem for file in files]
            metafunc.parametrize(name, [read(file) for file in files], ids=ids)


def read(file) -> Script:
    return percent.read(file.read_text("utf-8"), file.relative_to(COURSE.root).as_posix())


@pytest.fixture(scope="session")
def course() -> Course:
    return COURSE


@pytest.fixture(scope="session")
def scripts() -> list[Script]:
    return [read(source) for source in SOURCES]
