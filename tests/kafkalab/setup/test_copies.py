"""Copies for learners follow the course until the learner changes them."""

import json
from pathlib import Path

import pytest

from kafkalab.setup.copies import Refreshed, refresh


def notebook(text: str, output: str = "") -> str:
    """A notebook of one cell, as JupyterLab stores it after a run with that output."""
    outputs = [{"output_type": "stream", "name": "stdout", "text": [output]}] if output else []
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "source": text.splitlines(keepends=True),
        "outputs": outputs,
        "execution_count": 1 if output else None,
    }
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def course(tmp_path):
    folder = tmp_path / "course"
    (folder / "notebooks").mkdir(parents=True)
    (folder / "labs" / "data").mkdir(parents=True)
    (folder / "notebooks" / "00_start.ipynb").write_text(notebook("print(1)\nprint(2)"))
    (folder / "labs" / "data" / "iris.csv").write_text("1,2\n")
    (folder / "labs" / ".hidden").write_text("")
    (folder / "labs" / "__pycache__").mkdir()
    (folder / "labs" / "__pycache__" / "old.pyc").write_text("")
    return folder


@pytest.fixture
def work(course, tmp_path):
    """Fresh copies."""
    refresh(course, tmp_path / "work")
    return tmp_path / "work"


LESSON = Path("notebooks", "00_start.ipynb")


def test_everything_for_learners_is_copied_once(course, tmp_path):
    done = refresh(course, tmp_path / "work")

    assert done.copied == [LESSON, Path("labs", "data", "iris.csv")]
    assert (tmp_path / "work" / LESSON).read_text() == (course / LESSON).read_text()
    assert refresh(course, tmp_path / "work") == Refreshed()


def test_a_lesson_that_was_only_run_is_renewed(course, work):
    (work / LESSON).write_text(notebook("print(1)\nprint(2)", output="1\n2\n"))
    (course / LESSON).write_text(notebook("print(3)"))

    assert refresh(course, work).replaced == [LESSON]
    assert (work / LESSON).read_text() == notebook("print(3)")


def test_a_changed_lesson_stays_and_the_new_one_is_put_beside_it_once(course, work):
    mine = notebook("print('mine')")
    (work / LESSON).write_text(mine)
    assert refresh(course, work) == Refreshed()

    (course / LESSON).write_text(notebook("print(3)"))
    done = refresh(course, work)

    beside = LESSON.with_name("00_start.new.ipynb")
    assert done.beside == [beside]
    assert (work / LESSON).read_text() == mine
    assert (work / beside).read_text() == notebook("print(3)")
    (work / beside).unlink()
    assert refresh(course, work) == Refreshed()


def test_a_second_new_version_does_not_replace_the_first(course, work):
    (work / LESSON).write_text(notebook("print('mine')"))
    for text in ("print(3)", "print(4)"):
        (course / LESSON).write_text(notebook(text))
        refresh(course, work)

    assert (work / "notebooks" / "00_start.new.ipynb").read_text() == notebook("print(3)")
    assert (work / "notebooks" / "00_start.new2.ipynb").read_text() == notebook("print(4)")


def test_a_deleted_copy_comes_back(course, work):
    (work / LESSON).unlink()

    assert refresh(course, work).copied == [LESSON]


def test_lost_notes_cost_no_work(course, work):
    (work / ".course.json").write_text("{broken")
    (work / LESSON).write_text(notebook("print('mine')"))

    assert len(refresh(course, work).beside) == 1
    assert (work / LESSON).read_text() == notebook("print('mine')")


def test_a_copy_that_is_no_notebook_any_more_stays(course, work):
    (work / LESSON).write_text("not JSON")
    (course / LESSON).write_text(notebook("print(3)"))

    assert len(refresh(course, work).beside) == 1
    assert (work / LESSON).read_text() == "not JSON"


def test_data_is_renewed_by_its_bytes(course, work):
    data = Path("labs", "data", "iris.csv")
    (course / data).write_text("3,4\n")

    assert refresh(course, work).replaced == [data]


def test_no_version_is_overwritten_by_one_that_says_the_same(course, work):
    before = (work / LESSON).stat().st_mtime_ns
    (course / LESSON).write_text(notebook("print(1)\nprint(2)", output="1\n2\n"))

    assert refresh(course, work) == Refreshed()
    assert (work / LESSON).stat().st_mtime_ns == before
