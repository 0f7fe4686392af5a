"""What pip does in a hand-in, in the sandbox where there is one."""

import importlib.util
import zipfile
from pathlib import Path

import pytest

from grading.define import master
from grading.handin.weave import HandedIn, as_handed_in
from grading.judge.outcome import Outcome
from grading.run.attempt import Attempt
from grading.run.job import Job
from grading.run.surroundings import Surroundings
from tests import sandboxed

pytestmark = pytest.mark.slow

INSTALLS = """
!pip install greeting_of_a_teacher
%pip install -q nothing_of_this_name
import subprocess, sys
from greeting_of_a_teacher import TWO
there = "from greeting_of_a_teacher import TWO; print(TWO)"
assert subprocess.run([sys.executable, "-c", there], capture_output=True).stdout == b"2\\n"
double = TWO * p.number
"""


def wheel(folder: Path) -> None:
    """A package with one module, as a teacher downloads one."""
    about = "greeting_of_a_teacher-1.0.dist-info"
    files = {
        "greeting_of_a_teacher.py": "TWO = 2\n",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: greeting_of_a_teacher\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{about}/RECORD"))
    with zipfile.ZipFile(folder / "greeting_of_a_teacher-1.0-py3-none-any.whl", "w") as made:
        for name, text in (files | {f"{about}/RECORD": record}).items():
            made.writestr(name, text)


@pytest.fixture
def patient(changed):
    """The tiny lab with time for pip on a busy machine."""
    return changed("lab.toml", {"cell = 3": "cell = 60", "run = 20": "run = 90"})


def test_pip_installs_what_the_teacher_gave_for_this_hand_in_alone(patient, tmp_path):
    wheels = tmp_path / "the wheels"
    wheels.mkdir()
    wheel(wheels)
    cells = [
        HandedIn(cell.id, cell.kind, INSTALLS if cell.id == "task-1" else cell.text)
        for cell in as_handed_in(master.solved(patient))
    ]
    around = Surroundings(sandboxed.around().is_sandboxed, wheels)
    evidence = Attempt(patient, around).run(Job("anna", "a seed", cells)).evidence
    assert {result.outcome for result in evidence.results} == {Outcome.PASS}, evidence.cells[1]
    (told,) = evidence.oddities
    assert told.startswith("Task 1: pip found no nothing_of_this_name")
    assert "--wheels" in told
    assert told.removeprefix("Task 1: ") in evidence.cells[1].output
    assert importlib.util.find_spec("greeting_of_a_teacher") is None, "the grader's own stay"
