"""`./course reset`, and what `./course lab` says of the copies, as a learner reads them."""

from pathlib import Path

import pytest

from commands import app, reset, told
from kafkalab.setup import copies
from kafkalab.setup.copies import refresh
from tests.kafkalab.setup.pages import notebook

LESSON = Path("notebooks/04_producers.ipynb")
LAB = Path("labs/03_stock_producer/lab03_stock_producer.ipynb")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A small course with its folder work/, and the command at home in it."""
    for path in (LESSON, LAB):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(notebook("fresh"))
    monkeypatch.setattr(reset, "repository", lambda: tmp_path)
    refresh(tmp_path, tmp_path / "work")
    return tmp_path


def test_it_says_where_the_old_page_lies(course, capsys):
    (course / "work" / LESSON).write_text(notebook("mine"))

    assert app.main(["reset", "04"]) == 0

    assert capsys.readouterr().out.splitlines()[0] == (
        "work/notebooks/04_producers.ipynb is fresh. What you had is in work/older/04_producers-1."
    )


def test_it_says_that_there_is_nothing_to_do(course, capsys):
    assert app.main(["reset", "lab03"]) == 0
    assert capsys.readouterr().out == f"work/{LAB} is as the course gives it out.\n"


def test_an_unknown_page_is_an_error(course, capsys):
    assert app.main(["reset", "lab04"]) == 1
    assert "There is no lesson and no lab lab04." in capsys.readouterr().err


def test_pages_that_will_fail_are_named_with_the_reason_and_the_mend(course):
    work = course / "work"
    for path in (LESSON, LAB):
        (work / path).write_text(notebook("from kafkalab import errors\nerrors.Old"))
        (course / path).write_text(notebook("newer"))

    refresh(course, work)

    assert list(told.sentences(refresh(course, work), work)) == [
        "What you have of 04, lab03 will fail, as the course no longer has kafkalab.errors.Old; "
        "./course reset 04 gives a fresh page and keeps yours aside."
    ]
    copies.reset(course, work, "04")
    (line,) = told.sentences(refresh(course, work), work)
    assert line.startswith("What you have of lab03 will fail")
    copies.reset(course, work, "lab03")
    assert list(told.sentences(refresh(course, work), work)) == []


def test_each_move_from_the_older_layout_is_told(course):
    work = course / "work"
    (work / "labs" / LAB.name).write_text(notebook("mine"))

    assert next(iter(told.sentences(refresh(course, work), work))) == (
        f"Labs have folders of their own now: your work/labs/{LAB.name} is work/{LAB}."
    )
    (work / "labs" / LAB.name).write_text(notebook("mine as well"))
    assert list(told.sentences(refresh(course, work), work)) == [
        f"You have work/labs/{LAB.name} and work/{LAB}; the course looks at the second."
    ]
    (work / "labs" / LAB.name).unlink()
    (work / "labs" / "data").mkdir()
    (work / "labs" / "data" / "mine.csv").write_text("own")
    (work / "labs" / "02_iris").write_text("a file in the place of the folder")
    (line,) = told.sentences(refresh(course, work), work)
    assert line.startswith("work/labs/data/mine.csv could not be moved")


def test_a_lesson_that_is_gone_is_named_with_those_that_follow_it(course):
    (course / LESSON).rename((course / LESSON).with_name("05_batches.ipynb"))
    (course / "work/notebooks/03_producers.ipynb").write_text(notebook("mine"))
    (course / "work/.course.json").write_text('{"notebooks/03_producers.ipynb": "0"}')

    assert list(told.sentences(refresh(course, course / "work"), course / "work")) == [
        "The course has no 03_producers any more; what it taught is in 05_batches. "
        "Your copy is work/older/03_producers-1/03_producers.ipynb."
    ]
