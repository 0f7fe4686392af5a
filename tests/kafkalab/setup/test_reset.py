"""A fresh page takes the place of one that was worked on, and that one is kept aside."""

from pathlib import Path

import pytest

from kafkalab.errors import CourseError
from kafkalab.setup.copies import Refreshed, refresh, reset
from tests.kafkalab.setup.pages import notebook

LESSON = Path("notebooks/04_producers.ipynb")
LAB = Path("labs/03_stock_producer/lab03_stock_producer.ipynb")
PROGRAM = Path("labs/03_stock_producer/programs/trade.py")
FRESH = {LESSON: notebook("lesson"), LAB: notebook("lab"), PROGRAM: "fresh"}


@pytest.fixture
def course(tmp_path):
    for path, text in FRESH.items():
        (tmp_path / "course" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "course" / path).write_text(text)
    return tmp_path / "course"


@pytest.fixture
def work(course, tmp_path):
    refresh(course, tmp_path / "work")
    return tmp_path / "work"


@pytest.mark.parametrize("name", ["4", "04", "04_producers", "04_producers.ipynb"])
def test_a_lesson_is_fresh_and_what_was_there_lies_aside(course, work, name):
    (work / LESSON).write_text(notebook("mine"))

    done = reset(course, work, name)

    assert (done.page, done.aside) == (LESSON, Path("older/04_producers-1"))
    assert (work / LESSON).read_text() == FRESH[LESSON]
    assert (work / "older/04_producers-1/04_producers.ipynb").read_text() == notebook("mine")
    assert refresh(course, work) == Refreshed()


@pytest.mark.parametrize("name", ["lab3", "lab03", "lab03_stock_producer", "03_stock_producer"])
def test_a_lab_is_fresh_with_its_programs(course, work, name):
    (work / LAB).write_text(notebook("mine"))
    (work / PROGRAM).write_text("mine")
    (work / PROGRAM).with_name("own.py").write_text("added")

    aside = work / str(reset(course, work, name).aside)

    assert (work / LAB).read_text() == FRESH[LAB]
    assert (work / PROGRAM).read_text() == FRESH[PROGRAM]
    assert (work / PROGRAM).with_name("own.py").read_text() == "added"
    assert (aside / "lab03_stock_producer.ipynb").read_text() == notebook("mine")
    assert (aside / "programs" / "trade.py").read_text() == "mine"


def test_nothing_that_was_kept_is_ever_overwritten(course, work):
    kept = []
    for text in ("first", "second", "third"):
        (work / LESSON).write_text(notebook(text))
        kept.append(work / str(reset(course, work, "04").aside) / LESSON.name)

    assert [path.read_text() for path in kept] == list(map(notebook, ("first", "second", "third")))


def test_outputs_are_kept_too(course, work):
    seen = notebook("lesson", output="seen")
    (work / LESSON).write_text(seen)

    assert (work / str(reset(course, work, "04").aside) / LESSON.name).read_text() == seen


def test_a_page_that_is_fresh_is_left_alone(course, work):
    assert reset(course, work, "04").aside is None
    assert not (work / "older").exists()


def test_a_page_that_is_not_there_comes(course, tmp_path):
    assert reset(course, tmp_path / "work", "lab03").aside is None
    assert (tmp_path / "work" / PROGRAM).read_text() == "fresh"


def test_a_newer_version_beside_a_changed_page_goes_with_it_unless_it_was_worked_on(course, work):
    (work / LESSON).write_text(notebook("mine"))
    for text in ("second", "third"):
        (course / LESSON).write_text(notebook(text))
        refresh(course, work)
    first, second = (work / LESSON.with_name(f"04_producers.{n}.ipynb") for n in ("new", "new2"))
    first.write_text(notebook("worked on"))

    reset(course, work, "04")

    assert (first.read_text(), second.exists()) == (notebook("worked on"), False)
    assert (work / LESSON).read_text() == notebook("third")


def test_one_that_was_cut_off_loses_nothing(course, work, monkeypatch):
    (work / LESSON).write_text(notebook("mine"))

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("kafkalab.setup.copies.write_whole", full)
        with pytest.raises(OSError, match="No space left"):
            reset(course, work, "04")
    assert (work / "older/04_producers-1/04_producers.ipynb").read_text() == notebook("mine")
    assert refresh(course, work).copied == [LESSON]


def test_a_copy_of_the_older_layout_is_kept_aside_as_well(course, work):
    (work / "labs" / LAB.name).write_text(notebook("mine"))

    done = reset(course, work, "lab03")

    assert done.carried.moved == [(Path("labs", LAB.name), LAB)]
    assert (work / str(done.aside) / LAB.name).read_text() == notebook("mine")
    assert (work / LAB).read_text() == FRESH[LAB]


def test_an_unknown_name_is_told_with_those_that_are_there(course, work):
    with pytest.raises(CourseError, match="There are 04_producers, lab03_stock_producer"):
        reset(course, work, "09")
