"""Every lab runs from top to bottom with the author's answers, demonstrations included.

Grading leaves the demonstrations out; this is where they show that they are true.
"""

from pathlib import Path

import pytest

from authoring import execute
from authoring.build import Course
from grading.define import definition, master

COURSE = Course()
LABS = COURSE.masters()


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(execute.LESSON_SECONDS + 60)
@pytest.mark.parametrize("source", LABS, ids=lambda source: source.parent.name)
def test_lab(source: Path, tmp_path: Path) -> None:
    outcome = execute.run(
        COURSE.script(source),
        master.short_text(definition.load(source.parent.name)),
        COURSE.root / "build" / "run",
        folder=tmp_path,
    )
    assert outcome.passed, f"{outcome.problem}\nsee {outcome.page}"
