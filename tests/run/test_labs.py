"""Every lab runs from top to bottom with the author's answers, demonstrations included.

Grading leaves the demonstrations out; this is where they show that they are true.
"""

from pathlib import Path

import pytest

from grading import definition, master
from tools import execute
from tools.build import Course

COURSE = Course()
LABS = [source for source in COURSE.sources() if source.parent.name == "labs"]


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(execute.LESSON_SECONDS + 60)
@pytest.mark.parametrize("source", LABS, ids=lambda source: source.stem)
def test_lab(source: Path, tmp_path: Path) -> None:
    outcome = execute.run(
        COURSE.script(source),
        master.short_text(definition.load(source.stem)),
        COURSE.root / "build" / "run",
        folder=tmp_path,
    )
    assert outcome.passed, f"{outcome.problem}\nsee {outcome.page}"
