"""Copies for learners follow the course until the learner changes them."""

from pathlib import Path

import pytest

from kafkalab.setup.copies import Refreshed, refresh
from tests.kafkalab.setup.pages import notebook


@pytest.fixture
def course(tmp_path):
    folder = tmp_path / "course"
    (folder / "notebooks").mkdir(parents=True)
    lab = folder / "labs" / "02_iris"
    for inner in ("data", "__pycache__", "run", ".ipynb_checkpoints"):
        (lab / inner).mkdir(parents=True)
        (lab / inner / "any").write_text("")
    (folder / "notebooks" / "00_start.ipynb").write_text(notebook("print(1)\nprint(2)"))
    (lab / "lab02_iris.ipynb").write_text(notebook("print('a lab')"))
    (lab / "data" / "any").rename(lab / "data" / "iris.csv")
    (lab / "data" / "iris.csv").write_text("1,2\n")
    (lab / "checks.py").write_text("")
    (lab / "lab.toml").write_text("")
    return folder


@pytest.fixture
def work(course, tmp_path):
    """Fresh copies."""
    refresh(course, tmp_path / "work")
    return tmp_path / "work"


LESSON = Path("notebooks", "00_start.ipynb")
LAB = Path("labs", "02_iris", "lab02_iris.ipynb")
DATA = Path("labs", "02_iris", "data", "iris.csv")


def test_pages_data_and_programs_are_copied_once_and_nothing_else(course, tmp_path):
    done = refresh(course, tmp_path / "work")

    assert done.copied == [LESSON, LAB, DATA]
    for path in done.copied:
        assert (tmp_path / "work" / path).read_text() == (course / path).read_text()
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
    assert (done.beside, done.outdated) == ([beside], [LESSON])
    assert (work / LESSON).read_text() == mine
    assert (work / beside).read_text() == notebook("print(3)")
    assert refresh(course, work) == Refreshed(outdated=[LESSON])
    (work / beside).unlink()
    assert refresh(course, work) == Refreshed()


def test_a_second_new_version_does_not_replace_the_first(course, work):
    (work / LESSON).write_text(notebook("print('mine')"))
    for text in ("print(3)", "print(4)"):
        (course / LESSON).write_text(notebook(text))
        refresh(course, work)

    assert (work / "notebooks" / "00_start.new.ipynb").read_text() == notebook("print(3)")
    assert (work / "notebooks" / "00_start.new2.ipynb").read_text() == notebook("print(4)")


def test_a_refresh_that_was_cut_off_puts_no_version_beside_a_second_time(course, work):
    (work / LESSON).write_text(notebook("print('mine')"))
    notes = (work / ".course.json").read_text()
    (course / LESSON).write_text(notebook("print(3)"))
    refresh(course, work)
    (work / ".course.json").write_text(notes)  # they are written at the end

    assert refresh(course, work).beside == []


def test_a_copy_that_may_not_be_written_is_renewed_nevertheless(course, work):
    (work / LESSON).chmod(0o444)
    (course / LESSON).write_text(notebook("print(3)"))

    assert refresh(course, work).replaced == [LESSON]


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
    (course / DATA).write_text("3,4\n")

    assert refresh(course, work).replaced == [DATA]


def test_no_version_is_overwritten_by_one_that_says_the_same(course, work):
    before = (work / LESSON).stat().st_mtime_ns
    (course / LESSON).write_text(notebook("print(1)\nprint(2)", output="1\n2\n"))

    assert refresh(course, work) == Refreshed()
    assert (work / LESSON).stat().st_mtime_ns == before


def test_a_lesson_that_the_course_no_longer_has_is_put_aside_whole(course, work):
    for name in ("00_start", "03_producers"):
        (course / "notebooks" / f"{name}.ipynb").write_text(notebook(name))
    refresh(course, work)
    older = Path("notebooks", "03_producers.ipynb")
    mine = notebook("mine", output="1")
    (work / older).write_text(mine)
    (course / older).write_text(notebook("newer"))
    refresh(course, work)
    (course / older).rename(course / older.with_name("04_producers.ipynb"))

    done = refresh(course, work)

    aside = Path("older", "03_producers-1")
    assert done.aside == [(older, aside / older.name, ["04_producers"])]
    assert (work / aside / older.name).read_text() == mine
    assert (work / aside / "03_producers.new.ipynb").read_text() == notebook("newer")
    assert [path.name for path in sorted((work / "notebooks").iterdir())] == [
        "00_start.ipynb",
        "04_producers.ipynb",
    ]
    assert refresh(course, work) == Refreshed()


def test_the_learners_own_notebooks_stay_where_they_are(course, work):
    (work / "notebooks" / "my_own.ipynb").write_text(notebook("mine"))

    assert refresh(course, work) == Refreshed()
    assert (work / "notebooks" / "my_own.ipynb").exists()
