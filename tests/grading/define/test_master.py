"""A lab that could not be graded is refused before a whole class is told so."""

import shutil
from pathlib import Path

import pytest

from grading.define import definition, master
from grading.define.place import places
from kafkalab.errors import CourseError


@pytest.mark.parametrize("name", [place.name for place in places()])
def test_every_lab_can_be_graded(name: str) -> None:
    master.prove(definition.load(name))


@pytest.mark.parametrize(
    ("shown", "later"),
    [
        ("import json", "text = json.dumps(3)"),
        ("import json", "def text():\n    return json.dumps(3)"),
        ("from json import dumps", "texts = [dumps(n) for n in range(3)]"),
        ("helper = 3", "done = helper"),
    ],
)
def test_a_cell_that_needs_what_grading_leaves_out_is_refused(
    course: Path, tmp_path: Path, shown: str, later: str
) -> None:
    root = tmp_path / "course"
    shutil.copytree(course, root)
    script = root / "grading" / "labs" / "90_tiny" / "lab.py"
    text = script.read_text().replace('print("the demo', f'{shown}\nprint("the demo')
    script.write_text(text)
    master.prove(definition.load("lab90", root))
    script.write_text(text.replace("done = True", later))
    with pytest.raises(CourseError, match=r"They alone give a value to (json|dumps|helper)"):
        master.prove(definition.load("lab90", root))
    again = f"{shown}\n{later}"
    script.write_text(text.replace("done = True", again))
    master.prove(definition.load("lab90", root))
