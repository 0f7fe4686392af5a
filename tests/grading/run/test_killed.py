"""`grade` is killed at twenty points of a run, and run again: as if nobody had disturbed it."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
import pytest

from grading.run.compiled import compile_once
from kafkalab.places import repository
from kafkalab.wait import wait_until
from tests import changes

POINTS = range(20)
PARTS = 10
"""Of the points, one part in turn is tried each time, all of them where there is more time."""
NOW = [point for point in POINTS if changes.has_its_turn(point, PARTS)]
# A point is a file that is about to be put in its place, a process about to be started, or a word
# of progress: before, between and after all that a run writes. Nothing is told at the point. What
# the machine's cache keeps is no part of this run: only the first of a machine writes it.
GRADE = """
import os, sys
from pathlib import Path
from commands import app, grading
from grading.define import place
from kafkalab.places import cache

course, last, sent = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
place.repository = lambda: course
points = 0

def point():
    global points
    points += 1
    if points == last:
        os.kill(os.getpid(), sent)

def heard(event, about, kept=os.fspath(cache())):
    if event == "subprocess.Popen" or event == "os.rename" and not str(about[1]).startswith(kept):
        point()

def told(board, progress, tell=grading.Board.tell):
    point()
    tell(board, progress)

grading.Board.tell = told
sys.addaudithook(heard)
status = app.main(["grade", *sys.argv[4:], "--jobs", "2", "--json"])
print(points, file=sys.stderr)
sys.exit(status)
"""
NEVER = 0
# A process that was just being started hears of the end of its grader when it has been started,
# and on a machine with thirty others for two processors that takes half a minute.
PATIENCE = 120


@dataclass
class Class:
    """A class of the tiny lab, handed in, and how grading it goes when nobody disturbs it."""

    course: Path
    handed_in: Path
    temporary: Path
    points: int = 0
    marks: list[dict] | None = None
    secret: Path = Path()

    def grade(
        self, out: Path, last: int = NEVER, sent: int = signal.SIGKILL
    ) -> subprocess.CompletedProcess[str]:
        """Run the command, up to its point number `last`, where it gets this signal."""
        asked = [str(self.course), str(last), str(int(sent))]
        asked += ["90", str(self.handed_in), "--out", str(out)]
        return subprocess.run(
            [sys.executable, "-c", GRADE, *asked],
            cwd=repository(),
            # a module that is compiled by the first run is a file more that it puts in its place
            env={
                **_environment(),
                "TMPDIR": str(self.temporary),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            timeout=600,
        )

    def alive(self) -> list[psutil.Process]:
        """Processes of a run: its folders stand in their command lines."""
        words = (str(self.temporary), str(self.course))
        return [
            process
            for process in psutil.process_iter(["cmdline"])
            if any(word in part for part in process.info["cmdline"] or [] for word in words)
        ]


def _environment() -> dict[str, str]:
    from kafkalab import environment

    return environment.for_python()


def marks(text: str) -> list[dict]:
    """Records without what differs from run to run: times."""
    table = json.loads(text)
    for record in table:
        for name in ("started", "finished", "seconds"):
            del record[name]
        for check in record["checks"]:
            del check["seconds"]
    return table


@pytest.fixture(scope="module")
def graded(course, solved, tmp_path_factory):
    """Four hand-ins: right, wrong, raising, unreadable; and their marks."""
    handed_in = tmp_path_factory.mktemp("class")
    answers = {"anna": "double = 2 * p.number", "ben": "double = 0", "carl": "1 / 0"}
    for student, answer in answers.items():
        (task,) = (cell for cell in solved.cells if cell.id == "task-1")
        former, task.source = task.source, answer
        nbformat.write(solved, handed_in / f"{student}.ipynb")
        task.source = former
    (handed_in / "dora.ipynb").write_text("<html>")
    # sockets lie in it, whose paths must be short
    temporary = Path(tempfile.mkdtemp(prefix="k-"))
    made = Class(course, handed_in, temporary)
    compile_once()
    out = tmp_path_factory.mktemp("undisturbed")
    done = made.grade(out)
    assert done.returncode == 0, done.stderr
    made.points = int(done.stderr.split()[-1])
    made.marks = marks(done.stdout)
    made.secret = out / "secret"
    yield made
    shutil.rmtree(temporary)


def finished(out: Path) -> dict[Path, bytes]:
    """The records of attempts that came to their end."""
    found = {file: file.read_bytes() for file in out.glob("*/attempts/*/record.json")}
    return {file: text for file, text in found.items() if json.loads(text)["status"] == "finished"}


def look(graded: Class, point: int, out: Path) -> None:
    """Kill at a point, run again, compare."""
    shutil.copy(graded.secret, out / "secret")
    last = 1 + point * (graded.points - 1) // (len(POINTS) - 1)
    done = graded.grade(out, last)
    assert done.returncode == -signal.SIGKILL, f"{done.returncode} at {last}: {done.stderr}"
    wait_until(lambda: not graded.alive(), timeout=PATIENCE, what="its processes to end with it")
    before = finished(out)
    done = graded.grade(out)
    assert done.returncode == 0, done.stderr
    assert marks(done.stdout) == graded.marks
    assert {file: file.read_bytes() for file in before} == before, "what was done is not redone"
    assert len(list(out.glob("*/attempts/*"))) == 4, "nothing is there twice"
    assert graded.alive() == []


@pytest.mark.cluster
@pytest.mark.parametrize("point", NOW)
def test_it_comes_to_the_same_marks(graded, point, tmp_path):
    look(graded, point, tmp_path)


@pytest.mark.machine
@pytest.mark.parametrize("point", [point for point in POINTS if point not in NOW])
def test_so_it_does_at_every_other_point(graded, point, tmp_path):
    look(graded, point, tmp_path)


@pytest.mark.cluster
def test_an_interrupted_run_ends_with_all_that_it_started(graded, tmp_path):
    done = graded.grade(tmp_path, graded.points // 2, signal.SIGINT)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    wait_until(lambda: not graded.alive(), timeout=PATIENCE, what="its processes to end with it")
