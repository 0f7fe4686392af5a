"""The commands of the author, on a working tree of their own."""

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from authoring.build import Course
from authoring.marked import marks
from commands import build, run

APP = typer.Typer()
APP.command()(build.build)
APP.command()(run.run)

LESSON = """# %% [markdown]
# # {number} Title
#
# Well?

# %%{mark}
engine = "process"

# %%
import os

assert os.environ["KAFKALAB_ENGINE"] == engine
"""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    files = {
        "lessons/00_bad.py": LESSON.format(number="00", mark=""),
        "lessons/01_good.py": LESSON.format(number="01", mark=' tags=["parameters"]'),
        "lessons/outline.md": "# Outline\n",
        "lessons/glossary.md": "| say | not | right in |\n|---|---|---|\n| record | message | |\n",
        "README.md": "{}\n{}\n".format(*marks("lessons")),
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    monkeypatch.setenv("KAFKALAB_ENGINE", "process")  # a command sets it: it is put back
    for module in (build, run):
        monkeypatch.setattr(module, "Course", lambda: Course(tmp_path))
    return Course(tmp_path)


def call(*arguments: str):
    return CliRunner().invoke(APP, arguments)


@pytest.fixture
def long_one(course: Course) -> Course:
    """Only the good lesson, with a page of prose, a proof, and a word of the list."""
    (course.root / "lessons" / "00_bad.py").unlink()
    lesson = course.root / "lessons" / "01_good.py"
    prose = "# %% [markdown]\n# A message.\n#\n" + "# word\n" * 1_300
    proof = '# %% tags=["proof"]\nassert engine == "process", engine\n'
    text = lesson.read_text("utf-8").replace(
        "# %%\nimport os", f"{prose}\n{proof}\n# %%\nimport os"
    )
    lesson.write_text(text.replace("# Well?\n", "# Well?\n\n# %% [markdown]\n# You will see.\n"))
    return course


def test_a_build_shows_sizes_and_remarks_and_fails_for_none(long_one: Course) -> None:
    result = call("build")
    assert result.exit_code == 0
    assert "notebooks/01_good.ipynb" in result.stdout
    assert "▲1,3" in result.stdout
    assert "--remarks" in result.stdout
    assert "the word 'message'" not in result.stdout  # counted only


def test_sizes_alone_write_nothing(long_one: Course) -> None:
    result = call("build", "--sizes")
    assert "▲1,3" in result.stdout
    (page,) = json.loads(call("build", "--sizes", "--json").stdout)
    assert page["page"] == "01_good"
    assert 1_300 < page["words"] < 1_400
    assert page["cells"] == 2  # the proof is not on the page
    assert not (long_one.root / "notebooks").exists()


def test_remarks_are_listed_with_their_place(long_one: Course) -> None:
    result = call("build", "--remarks")
    assert result.exit_code == 0
    assert "lessons/01_good.py:13: the word 'message'; say 'record'" in result.stdout
    assert not (long_one.root / "notebooks").exists()


def test_a_build_does_one_thing_at_a_time(course: Course) -> None:
    assert call("build", "--check", "--sizes").exit_code == 2
    assert call("build", "--json").exit_code == 2


def test_build_names_every_mistake_and_writes_nothing(course: Course) -> None:
    result = call("build")
    assert result.exit_code == 1
    assert "lessons/00_bad.py:1: no parameters cell" in result.stderr
    assert "1 to mend." in result.stderr
    assert not (course.root / "notebooks").exists()


def test_build_writes_and_check_says_what_differs(course: Course) -> None:
    (course.root / "lessons" / "00_bad.py").unlink()
    first = call("build", "--check")
    assert first.exit_code == 1
    assert "notebooks/01_good.ipynb:1: is missing" in first.stderr
    assert "4 to mend." in first.stderr
    assert "notebooks/01_good.ipynb" in call("build").stdout
    assert call("build", "--check").exit_code == 0
    assert "Everything is built." in call("build").stdout


@pytest.mark.slow
def test_run_goes_on_after_a_failure_and_says_where(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKALAB_ENGINE", "docker")  # the word of the command counts
    result = call("run", "--json", "--engine", "process")
    assert result.exit_code == 1
    bad, good = json.loads(result.stdout)
    assert (bad["lesson"], bad["passed"]) == ("00_bad", False)
    assert bad["problem"].startswith("lessons/00_bad.py:1: no parameters cell")
    assert (good["lesson"], good["passed"]) == ("01_good", True)  # so the kernel knew the engine
    assert Path(good["page"]).exists()
    assert "failed 00_bad" in result.stderr


@pytest.mark.slow
def test_a_page_is_run_as_it_was_built(long_one: Course) -> None:
    call("build")
    built = json.loads((long_one.root / "notebooks" / "01_good.ipynb").read_text("utf-8"))["cells"]
    for option, extra in (["--page"], 0), ([], 1):
        result = call("run", "--json", "--engine", "process", *option)
        (ran,) = json.loads(result.stdout)
        assert ran["passed"], ran["problem"]
        cells = json.loads(Path(ran["notebook"]).read_text("utf-8"))["cells"]
        own = [cell for cell in cells if cell["metadata"].get("tags") != ["proof"]]
        assert len(cells) - len(own) == extra
        shown = [(cell["id"], cell["source"]) for cell in built][: len(own)]
        assert [(cell["id"], cell["source"]) for cell in own] == shown
        assert len(own) == len(built) - extra  # the navigation is the reader's


@pytest.mark.slow
def test_a_course_without_scripts_runs_its_pages(long_one: Course) -> None:
    call("build")
    shutil.rmtree(long_one.root / "lessons")
    (ran,) = json.loads(call("run", "01", "--json", "--engine", "process").stdout)
    assert (ran["lesson"], ran["problem"]) == ("01_good", "")
    page = long_one.root / "notebooks" / "01_good.ipynb"
    page.write_text(page.read_text("utf-8").replace('engine = \\"process\\"', "1 / 0"), "utf-8")
    (ran,) = json.loads(call("run", "--page", "--json", "--engine", "process").stdout)
    assert ran["problem"].startswith("01_good.ipynb, cell 3: ZeroDivisionError"), ran
    assert Path(ran["page"]).exists()
    assert "there are 01_good" in call("run", "07").stderr


def test_run_shows_a_table(course: Course) -> None:
    result = call("run", "00")
    assert result.exit_code == 1
    assert "0 of 1 lessons passed" in result.stdout
    assert "no parameters cell" in result.stdout


def test_an_engine_that_is_not_there_is_wrong_usage(course: Course) -> None:
    assert call("run", "--engine", "podman", "00").exit_code == 2


def test_a_lesson_that_is_not_there_is_wrong_usage(course: Course) -> None:
    result = call("run", "07")
    assert result.exit_code == 2
    assert "no lesson called 07" in result.stderr
