"""What grades is hashed, wherever it lies, and nothing else."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from grading.define import definition
from grading.define.meaning import of_master
from grading.define.place import Place
from grading.keep.digest import grader_digest
from kafkalab.places import repository

PARTS = ("authoring", "grading", "kafkalab", "labs", "docker-compose.yml", "pyproject.toml")
LAB = "02_iris"


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The course once more, below a folder that is called labs."""
    root = tmp_path_factory.mktemp("below") / "labs" / "clone"
    root.mkdir(parents=True)
    for part in PARTS:
        source = repository() / part
        if source.is_dir():
            shutil.copytree(source, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, root / part)
    return root


def digest(root: Path, lab: str = LAB) -> str:
    grader_digest.cache_clear()
    return grader_digest(Place(root, lab), root)


@cache
def untouched(root: Path, lab: str = LAB) -> str:
    """That of the clone as it was made, and as each test leaves it."""
    return digest(root, lab)


@contextmanager
def mended(file: Path, old: str = "", new: str = "") -> Iterator[None]:
    """The file says something else for a while: more, or one thing in the place of another."""
    text = file.read_text()
    more = "\nMENDED = 1\n" if file.suffix == ".py" else "# mended\n"
    file.write_text(text.replace(old, new) if old else text + (new or more))
    try:
        yield
    finally:
        file.write_text(text)


def test_two_clones_agree(clone):
    assert digest(clone) == digest(repository())


@pytest.mark.parametrize(
    "changed",
    [
        "grading/judge/checks.py",
        "grading/handin/weave.py",
        "grading/handin/shown.py",
        "grading/define/asked.py",
        "grading/run/client.py",
        "grading/run/lease.py",
        "grading/lab.py",
        "authoring/notebooks.py",
        "authoring/solutions.py",
        "kafkalab/wait.py",
        "kafkalab/cluster/survey.py",
        "kafkalab/engine/process.py",
        "kafkalab/engine/docker.py",
        "kafkalab/engine/watcher.py",
        "kafkalab/gateway/server.py",
        "kafkalab/spark/session.py",
        "kafkalab/java/jars.json",
        "docker-compose.yml",
    ],
)
def test_what_runs_or_judges_grades_again(clone, changed):
    before = untouched(clone)
    with mended(clone / changed):
        assert digest(clone) != before


@pytest.mark.parametrize(
    "changed",
    [
        "kafkalab/draw/charts/common.py",
        "kafkalab/lessons/single_broker/files.py",
        "kafkalab/setup/doctor/examination.py",
        "authoring/contents.py",
        "grading/keep/report.py",
        "grading/judge/score.py",
        "grading/handin/intake.py",
        "grading/handin/submission.py",
        "grading/prove/verify.py",
        "pyproject.toml",
    ],
)
def test_what_does_neither_changes_nothing(clone, changed):
    before = untouched(clone)
    with mended(clone / changed):
        assert digest(clone) == before


def test_another_version_of_a_package_that_grades_is_another_grader(clone):
    before = untouched(clone)
    project = clone / "pyproject.toml"
    with mended(project, "jupyterlab==", "jupyterlab==99."):
        assert digest(clone) == before
    with mended(project, "kafka-python==", "kafka-python==99."):
        assert digest(clone) != before


def test_what_a_lab_imports_counts_for_that_lab_alone(clone):
    before = untouched(clone, "03_stock_producer"), untouched(clone, "04_failover")
    with mended(clone / "kafkalab" / "lessons" / "producers" / "metering.py"):
        assert digest(clone, "03_stock_producer") != before[0]
        assert digest(clone, "04_failover") == before[1]


def test_the_programs_of_a_lab_are_part_of_it(clone):
    """They are in the digest of the lab, as is everything in its two folders that runs."""
    lab = definition.load("lab05", clone)
    before = lab.digest
    with mended(clone / "labs" / "05_delivery" / "delivery" / "producing.py"):
        assert lab.digest != before
    with mended(clone / "grading" / "labs" / "05_delivery" / "tests" / "test_checks.py"):
        assert lab.digest == before


@pytest.mark.parametrize(
    "changed", ["grading/run/client.py", "kafkalab/wait.py", "grading/judge/checks.py"]
)
def test_a_comment_in_what_grades_asks_for_no_run(clone, changed):
    before = untouched(clone)
    with mended(clone / changed, new="\n# said otherwise\n"):
        assert digest(clone) == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("labs/02_iris/lab.toml", "points = ", "points = 1"),
        ("labs/02_iris/lab.toml", "title = ", 'title = "x" # '),
        ("labs/02_iris/hints.md", "## task-1", "## task-1\nAnother hint."),
        ("labs/02_iris/checks.py", "points=", "points=1 + "),
        ("labs/02_iris/checks.py", "@check(", "# a comment\n@check("),
        ("grading/labs/02_iris/hidden.py", "points=", "points=1 + "),
        ("grading/labs/02_iris/lab.py", "# # Lab", "# # The lab"),
    ],
)
def test_points_hints_titles_and_comments_ask_for_no_run(clone, file, old, new):
    lab = definition.load("lab02", clone)
    before = lab.digest, untouched(clone)
    with mended(clone / file, old, new):
        assert (lab.digest, digest(clone)) == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("labs/02_iris/lab.toml", "run = ", "run = 1"),
        ("labs/02_iris/checks.py", "yield ", "yield not "),
        ("grading/labs/02_iris/lab.py", 'tags=["task-1"]', 'tags=["task-9"]'),
        ("grading/labs/02_iris/lab.py", "wait_until", "wait_till"),
        ("labs/02_iris/parameters.py", "def make", "MORE = 1\n\n\ndef make"),
    ],
)
def test_what_runs_or_looks_asks_for_a_run(clone, file, old, new):
    lab = definition.load("lab02", clone)
    before = lab.digest
    assert old in (clone / file).read_text()
    with mended(clone / file, old, new):
        assert lab.digest != before


def test_the_solution_is_no_input_and_its_stub_is():
    master = """# %% [markdown]
# # Lab

# %% tags=["task-1"]
# Task 1
# BEGIN SOLUTION
# STUB: do it
x = 1
# END SOLUTION
"""
    assert of_master(master) == of_master(master.replace("x = 1", "x = 2"))
    assert of_master(master) != of_master(master.replace("do it", "do that"))
    assert of_master(master) != of_master(master.replace("task-1", "task-2"))
