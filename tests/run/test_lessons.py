"""Every lesson runs from top to bottom on a real cluster and leaves nothing behind.

The executed pages stay in build/run/, for the author and as an artifact of a failed run.
"""

from pathlib import Path

import pytest

from authoring import execute
from authoring.build import Course

COURSE = Course()
LESSONS = COURSE.lessons()


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(execute.LESSON_SECONDS + 60)
@pytest.mark.parametrize("source", LESSONS, ids=lambda source: source.stem)
def test_lesson(source: Path) -> None:
    outcome = execute.run(
        COURSE.script(source),
        source.read_text("utf-8"),
        COURSE.root / "build" / "run",
        folder=COURSE.root / "notebooks",
    )
    assert outcome.passed, f"{outcome.problem}\nsee {outcome.page}"
