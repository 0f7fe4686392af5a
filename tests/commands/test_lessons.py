"""The commands of the author, on a working tree of their own."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from commands import lessons
from tools.build import Course
from tools.contents import TABLE_BEGIN, TABLE_END

APP = typer.Typer()
APP.command()(lessons.build)
APP.command()(lessons.run)

LESSON = """# %% [markdown]
# # {number} Title
#
# Well?

# %% tags=["parameters"]
number = 1

# %%
assert number == {expected}
"""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    files = {
        "lessons/notebooks/00_good.py": LESSON.format(number="00", expected=1),
        "lessons/notebooks/01_bad.py": LESSON.format(number="01", expected=2),
        "lessons/outline.md": "# Outline\n",
        "README.md": f"{TABLE_BEGIN}\n{TABLE_END}\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    monkeypatch.setattr(lessons, "Course", lambda: Course(tmp_path))
    return Course(tmp_path)


def call(*arguments: str):
    return CliRunner().invoke(APP, arguments)


def test_build_writes_and_check_says_what_differs(course: Course) -> None:
    first = call("build", "--check")
    assert first.exit_code == 1
    assert "notebooks/00_good.ipynb:1: is missing" in first.stderr
    assert "4 to mend." in first.stderr
    assert "notebooks/00_good.ipynb" in call("build").stdout
    assert call("build", "--check").exit_code == 0
    assert "Everything is built." in call("build").stdout


def test_run_goes_on_after_a_failure_and_says_where(course: Course) -> None:
    result = call("run", "--json")
    assert result.exit_code == 1
    good, bad = json.loads(result.stdout)
    assert (good["lesson"], good["passed"]) == ("00_good", True)
    assert (bad["lesson"], bad["passed"]) == ("01_bad", False)
    assert bad["problem"].startswith("lessons/notebooks/01_bad.py:10: AssertionError")
    assert Path(bad["page"]).exists()
    assert "failed 01_bad" in result.stderr


def test_the_kernels_learn_which_engine_to_use(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKALAB_ENGINE", "process")
    script = course.root / "lessons" / "notebooks" / "00_good.py"
    text = script.read_text("utf-8").replace(
        "assert number == 1", 'import os\n\nassert os.environ["KAFKALAB_ENGINE"] == "docker"'
    )
    script.write_text(text, "utf-8")
    result = call("run", "--engine", "docker", "00")
    assert result.exit_code == 0, result.output
    assert "1 of 1 lessons passed" in result.stdout
    assert call("run", "--engine", "podman", "00").exit_code == 2


def test_a_lesson_that_is_not_there_is_wrong_usage(course: Course) -> None:
    result = call("run", "07")
    assert result.exit_code == 2
    assert "no lesson called 07" in result.stderr


def test_a_script_that_cannot_be_built_is_a_failure_with_its_line(course: Course) -> None:
    script = course.root / "lessons" / "notebooks" / "00_good.py"
    script.write_text(script.read_text("utf-8").replace('tags=["parameters"]', ""))
    result = call("run", "00")
    assert result.exit_code == 1
    assert "no parameters cell" in result.stdout
