import os
from pathlib import Path
from typing import Any

import nbformat
import pytest

from authoring import execute, leftovers, notebooks
from authoring.execute import LessonRun
from kafkalab.engine import docker_owned

pytestmark = pytest.mark.slow

FRAME = """# %% [markdown]
# # 00 Title
#
# Well?

# %% tags=["parameters"]
number = 1

# %%
"""


def run(tmp_path: Path, code: str, **settings: Any) -> LessonRun:
    text = f"{FRAME}{code}\n"
    script = notebooks.checked(text, "lessons/00_title.py")
    return execute.run(script, text, tmp_path / "run", folder=tmp_path, **settings)


def test_a_good_run_leaves_its_outputs_as_notebook_and_page(tmp_path: Path) -> None:
    outcome = run(tmp_path, "assert number == 1\nnumber + 41")
    assert outcome.passed
    assert outcome.as_dict()["problem"] == ""
    assert nbformat.read(outcome.notebook, 4).cells[-1].outputs[0].data["text/plain"] == "42"
    assert "42" in Path(outcome.page).read_text("utf-8")


PROVED = """first = 40

# %% tags=["proof"]
proved = first + 2
assert proved == number + 41, proved

# %%
globals().get("proved", "a page without its proofs")
"""


def outputs(outcome: LessonRun) -> str:
    return nbformat.read(outcome.notebook, 4).cells[-1].outputs[0].data["text/plain"]


def test_proofs_run_in_their_place_and_the_page_shows_none(tmp_path: Path) -> None:
    outcome = run(tmp_path, PROVED)
    assert outcome.passed
    assert outputs(outcome) == "42"
    tags = [cell.metadata.get("tags") for cell in nbformat.read(outcome.notebook, 4).cells]
    assert ["proof"] in tags
    page = Path(outcome.page).read_text("utf-8")
    assert "first" in page
    assert "number + 41" not in page


def test_a_page_runs_exactly_as_a_reader_has_it(tmp_path: Path) -> None:
    outcome = run(tmp_path, PROVED, proofs=False, navigation="[Contents](README.md)")
    assert outcome.passed
    text = f"{FRAME}{PROVED}\n"
    built = notebooks.student_notebook(text, "lessons/00_title.py", "[Contents](README.md)")
    ran = nbformat.read(outcome.notebook, 4).cells
    assert [(cell.id, cell.source) for cell in ran] == [(c.id, c.source) for c in built.cells]
    assert "a page without its proofs" in str(ran[-2].outputs)


def test_a_failure_is_named_with_its_line_with_and_without_proofs(tmp_path: Path) -> None:
    code = f"{PROVED}\n# %%\n1 / 0"
    place = "lessons/00_title.py:20: ZeroDivisionError"
    assert run(tmp_path, code).problem.startswith(place)
    assert run(tmp_path, code, proofs=False).problem.startswith(place)


def test_a_proof_that_fails_is_shown(tmp_path: Path) -> None:
    code = PROVED.replace("number + 41", "number + 42")
    outcome = run(tmp_path, code)
    assert outcome.problem == "lessons/00_title.py:13: AssertionError: 42"
    assert "AssertionError" in Path(outcome.page).read_text("utf-8")
    assert run(tmp_path, code, proofs=False).passed


def test_a_run_has_an_environment_and_tells_what_each_cell_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "before")
    code = "import os\n\nassert os.environ['OURS'] == 'here'\n\n# %%\n1 / 0\n\n# %%\n2"
    outcome = run(tmp_path, code, environment={"OURS": "here"})
    assert os.environ["OURS"] == "before"
    lines = [int(place.rpartition(":")[2]) for place in outcome.cell_seconds]
    assert lines == [7, 10, 15]  # the parameters, the two that were begun
    assert all(0 <= seconds < 30 for seconds in outcome.cell_seconds.values())


def test_a_failure_is_named_with_its_place_and_what_it_left_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "SECONDS_TO_CLEAN_UP", 0.2)
    code = (
        'import subprocess\n\nsubprocess.Popen(["tail", "-f", "/dev/null"], process_group=0)\n\n'
        "# %%\nraise ValueError(number)"
    )
    outcome = run(tmp_path, code)
    assert not outcome.passed
    assert outcome.problem.startswith("lessons/00_title.py:15: ValueError: 1; left run")
    assert "tail (" in outcome.problem
    assert "ValueError" in Path(outcome.page).read_text("utf-8")
    assert run(tmp_path / "again", "1").passed  # it was ended


def test_who_removes_containers_is_not_killed_over_it() -> None:
    assert leftovers.SECONDS_TO_CLEAN_UP >= docker_owned.SECONDS_TO_GO


def test_a_cell_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    outcome = run(tmp_path, "import threading\n\nthreading.Event().wait()", lesson_seconds=1)
    assert "lessons/00_title.py:10: " in outcome.problem
    assert "timed out" in outcome.problem
    assert outcome.seconds < 60


def test_a_reader_from_the_end_may_be_told_of_a_missing_name_and_of_nothing_else(
    tmp_path: Path,
) -> None:
    assert run(tmp_path, "first = 1\n\n# %%\nfirst + 1", backwards=True).passed
    outcome = run(tmp_path, "first = {}\n\n# %%\n[][len(globals())]", backwards=True)
    assert outcome.problem == (
        "lessons/00_title.py:13: run before what it needs, it shows a traceback: "
        "IndexError: list index out of range"
    )


def test_what_a_reader_from_the_end_has_imported_does_not_help_a_cell_above(tmp_path: Path) -> None:
    code = "json.dumps(number)\n\n# %%\nimport json"
    outcome = run(tmp_path, code, backwards=True)
    assert outcome.problem.startswith("lessons/00_title.py:10: NameError")


def test_a_cell_that_cannot_be_run_twice_is_found(tmp_path: Path) -> None:
    code = "made = []\n\n# %%\nmade.append(1)\nassert len(made) == 1\nlen(made)"
    outcome = run(tmp_path, code)
    assert outcome.passed
    outcome = run(tmp_path, code, twice=True)
    assert outcome.problem.startswith("lessons/00_title.py:13: AssertionError")
    assert run(tmp_path, "number += 1\nnumber", twice=True).passed
    kept = nbformat.read(tmp_path / "run" / "00_title.ipynb", 4).cells[-1]
    assert kept.outputs[0].data["text/plain"] == "2", "the outputs of the first time"
