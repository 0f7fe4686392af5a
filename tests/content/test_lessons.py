"""Every lesson, run once for all that is asked of it.

From the end to the start, where a cell that lacks its names says so and nothing else; then, in a
fresh kernel, from top to bottom with its proofs. Where the lesson has changed since it was last
tested whole, each cell of the page runs twice in a row. Nothing may be left running.

The executed pages stay in build/run/, for the author and as an artifact of a failed run.
"""

import re
from pathlib import Path

import pytest

from authoring import execute
from authoring.build import Course
from kafkalab.spark.loan import POOL
from tests import changes

COURSE = Course()
BREAKS = re.compile(r"\bcluster\.(pause|kill|cut)\(|\bgateway=True")
SECONDS = 2 * execute.LESSON_SECONDS


def lessons() -> list:
    """Each a unit of its own, which its script and all that the script imports belong to.

    A lesson that breaks brokers compares times, so nothing runs beside it.
    """
    found = []
    for source in COURSE.lessons():
        marks = [pytest.mark.content(source.relative_to(COURSE.root))]
        if BREAKS.search(source.read_text("utf-8")):
            marks.append(pytest.mark.alone)
        found.append(pytest.param(source, marks=marks, id=source.stem))
    return found


@pytest.fixture(scope="session")
def since() -> set[Path] | None:
    return changes.changed_since(changes.base())


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(SECONDS + 60)
@pytest.mark.parametrize("source", lessons())
@pytest.mark.usefixtures("warm")
def test_lesson(
    source: Path,
    since: set[Path] | None,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if source == COURSE.lessons()[0]:  # as a reader has it, with a Spark of its own
        monkeypatch.delenv(POOL)
    script = source.relative_to(COURSE.root)
    outcome = execute.run(
        COURSE.script(source),
        source.read_text("utf-8"),
        COURSE.root / "build" / "run",
        folder=COURSE.root / "notebooks",
        lesson_seconds=SECONDS,
        backwards=True,
        twice=request.config.getoption("--rest") == "all" or changes.touched([script], since),
    )
    assert outcome.passed, f"{outcome.problem}\nsee {outcome.page}"


@pytest.mark.whole
@pytest.mark.docker
@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(SECONDS + 60)
@pytest.mark.parametrize("source", lessons())
@pytest.mark.usefixtures("warm")
def test_lesson_on_docker(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKALAB_ENGINE", "docker")
    outcome = execute.run(
        COURSE.script(source),
        source.read_text("utf-8"),
        tmp_path,
        folder=COURSE.root / "notebooks",
        lesson_seconds=SECONDS,
    )
    assert outcome.passed, f"{outcome.problem}\nsee {outcome.page}"
