"""`./course new`: what a stranger begins with, and that it works as it is."""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from authoring.build import Course
from commands import new
from grading.define import definition, master
from grading.prove.wrong import gaps, wrong_answers
from kafkalab.errors import CourseError
from kafkalab.places import repository
from tests import sandboxed

APP = typer.Typer()
APP.command()(new.new)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setattr(new, "Course", lambda: Course(tmp_path))
    return Course(tmp_path)


def call(*arguments: str):
    return CliRunner().invoke(APP, arguments)


def test_a_lesson_has_its_number_its_title_and_topics_of_its_own(course: Course) -> None:
    result = call("lesson", "21_my_idea")
    assert result.exit_code == 0
    assert "lessons/21_my_idea.py" in result.stdout
    assert "./course run 21" in result.stdout
    text = (course.root / "lessons" / "21_my_idea.py").read_text("utf-8")
    assert text.startswith("# %% [markdown]\n# # 21 My idea\n")
    assert '"my-idea-rides"' in text
    assert "title" not in text.replace("ax.set_title", "").lower().replace("subtitle", "")


def test_a_lab_has_the_files_of_both_folders(course: Course) -> None:
    result = call("lab", "15_my_task")
    assert "./course verify lab15" in result.stdout
    student, teacher = course.root / "labs/15_my_task", course.root / "grading/labs/15_my_task"
    assert {file.name for file in student.iterdir()} == {
        "lab.toml",
        "parameters.py",
        "checks.py",
        "hints.md",
    }
    assert {file.name for file in teacher.iterdir()} == {"lab.py", "hidden.py", "wrong"}
    assert '"lab15_my_task"' in (teacher / "lab.py").read_text("utf-8")
    assert 'title = "My task"' in (student / "lab.toml").read_text("utf-8")


def test_a_lab_has_points_hints_and_a_wrong_answer_for_each_check(course: Course) -> None:
    call("lab", "15_my_task")
    lab = definition.load("lab15", course.root)
    assert (lab.name, lab.points, set(lab.hints)) == ("lab15_my_task", 20, set(lab.tasks))
    checks = (*lab.checks, *lab.hidden_checks())
    assert list(gaps(checks, wrong_answers(lab, master.solved(lab)))) == []


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        (("lesson", "21_idea"), ("lesson", "21_other"), "the number 21 is taken by 21_idea"),
        (("lab", "15_task"), ("lab", "15_other"), "the number 15 is taken by 15_task"),
        (("lesson", "21_idea"), ("lesson", "my_idea"), "is no NN_name"),
        (("lesson", "21_idea"), ("lab", "15-task"), "is no NN_name"),
        (("lesson", "21_idea"), ("page", "22_page"), "'page' is not one of"),
    ],
)
def test_a_name_that_does_not_do_is_wrong_usage(
    course: Course, first: tuple[str, str], second: tuple[str, str], what: str
) -> None:
    call(*first)
    before = sorted(course.root.rglob("*"))
    result = call(*second)
    assert result.exit_code == 2
    assert what in " ".join(result.stderr.replace("│", " ").split())
    assert sorted(course.root.rglob("*")) == before


def test_a_lesson_and_a_lab_may_have_the_same_number(course: Course) -> None:
    assert call("lesson", "21_idea").exit_code == call("lab", "21_idea").exit_code == 0


def test_nothing_that_is_there_is_overwritten(course: Course) -> None:
    hints = course.root / "labs" / "15_task" / "hints.md"
    hints.parent.mkdir(parents=True)
    hints.write_text("mine")
    result = call("lab", "15_task")
    assert isinstance(result.exception, CourseError)
    assert hints.read_text() == "mine"
    assert len(list(course.root.rglob("*.*"))) == 1


@pytest.fixture
def stranger(tmp_path: Path) -> Callable[..., str]:
    """Somebody with a copy of the course: runs a command of it and returns what it printed.

    Their Python sees the packages of this one, but the course of their own.
    """
    mine, root = tmp_path / "python", tmp_path / "course"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=repository(),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (repository() / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes((repository() / name).read_bytes())
    venv.create(mine, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(mine), "platbase": str(mine)}))
    (site / "course.pth").write_text(f"{root}\n{sysconfig.get_path('purelib')}\n")

    # Templates of pages are looked for beside the interpreter.
    environment = os.environ | {"JUPYTER_PATH": str(Path(sys.prefix, "share", "jupyter"))}

    def run(*arguments: str) -> str:
        command = [str(mine / "bin" / "python"), "-P", "-m", "commands.app", *arguments]
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=280
        )
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    return run


@pytest.mark.rest(minutes=2)
@pytest.mark.content("authoring/template")
@pytest.mark.cluster
def test_a_lab_is_proved_as_it_is(stranger: Callable[..., str]) -> None:
    stranger("new", "lab", "15_my_task")
    assert "labs/15_my_task/lab15_my_task.ipynb" in stranger("build")
    assert "lab15_my_task" in stranger("verify", "lab15", *sandboxed.options())


@pytest.mark.rest(minutes=2)
@pytest.mark.content("authoring/template")
@pytest.mark.cluster
@pytest.mark.spark
def test_a_lesson_runs_as_it_is_with_and_without_its_proofs(stranger: Callable[..., str]) -> None:
    stranger("new", "lesson", "21_my_idea")
    assert "notebooks/21_my_idea.ipynb" in stranger("build")
    assert "1 of 1 lessons passed" in stranger("run", "21")
    assert "1 of 1 lessons passed" in stranger("run", "--page", "21")
