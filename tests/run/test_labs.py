"""Every lab runs from top to bottom with the author's answers, demonstrations included.

Grading leaves the demonstrations out; this is where they show that they are true.
"""

import re
from pathlib import Path

import pytest

from grading import definition
from tools import execute
from tools.build import Course

COURSE = Course()
LABS = [source for source in COURSE.sources() if source.parent.name == "labs"]


def shortened(source: Path) -> str:
    """The master with the values of grading in its parameters cell: short waits."""
    text = source.read_text("utf-8")
    for name, value in definition.load(source.stem).values.items():
        text, count = re.subn(rf"^{name} = .*$", f"{name} = {value!r}", text, flags=re.MULTILINE)
        assert count == 1, name
    return text


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(execute.LESSON_SECONDS + 60)
@pytest.mark.parametrize("source", LABS, ids=lambda source: source.stem)
def test_lab(source: Path, tmp_path: Path) -> None:
    outcome = execute.run(
        COURSE.script(source),
        shortened(source),
        COURSE.root / "build" / "run",
        folder=tmp_path,
    )
    assert outcome.passed, f"{outcome.problem}\nsee {outcome.page}"
