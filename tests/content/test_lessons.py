"""Every lesson, run once for all that is asked of it.

From the end to the start, where a cell that lacks its names says so and nothing else; then, in a
fresh kernel, from top to bottom with its proofs. Where the lesson itself has changed since it was
last tested whole, each cell of the page runs twice in a row. Nothing may be left running.

The executed pages stay in build/run/, for the author and as an artifact of a failed run.
"""

import re
from pathlib import Path

import pytest

from authoring import execute
from authoring.build import Course
from kafkalab.spark.loan import POOL
from tests import changes
from tests.schedule import BREAKING

COURSE = Course()
BREAKS = re.compile(r"\bcluster\.(pause|kill|cut)\(|\bgateway=True")
SECONDS = 2 * execute.LESSON_SECONDS


def lessons() -> list:
    """Each a unit of its own, which its script and all that the script imports belong to.

    A lesson that breaks brokers compares times, and is named so that it goes first.
    """
    found = []
    for source in COURSE.lessons():
        ending = BREAKING if BREAKS.search(source.read_text("utf-8")) else ""
        marks = pytest.mark.content(source.relative_to(COURSE.root))
        found.append(pytest.param(source, marks=marks, id=source.stem + ending))
    return found


def is_read_twice(source: Path, rest: str) -> bool:
    """A page whose own cells have changed; with --all each one, in CI also a third in turn."""
    since = changes.changed_since(changes.base())
    if rest == "all" or since is None:
        return True
    script = source.relative_to(COURSE.root)
    own = {file for file in changes.leads_to(script) if file.is_relative_to("kafkalab/lessons")}
    in_turn = rest == "ci" and changes.has_its_turn(COURSE.lessons().index(source))
    return in_turn or not since.isdisjoint({script, *own})


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(SECONDS + 60)
@pytest.mark.parametrize("source", lessons())
@pytest.mark.usefixtures("warm")
def test_lesson(
    source: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if source == COURSE.lessons()[0]:  # as a reader has it, with a Spark of its own
        monkeypatch.delenv(POOL)
    outcome = execute.run(
        COURSE.script(source),
        source.read_text("utf-8"),
        COURSE.root / "build" / "run",
        folder=COURSE.root / "notebooks",
        lesson_seconds=SECONDS,
        backwards=True,
        twice=is_read_twice(source, request.config.getoption("--rest")),
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
