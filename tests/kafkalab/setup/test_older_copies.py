"""Copies of the time when labs had no folders are carried over, and nobody loses work."""

import json
from pathlib import Path

import pytest

from kafkalab.setup import copies
from kafkalab.setup.copies import refresh
from tests.kafkalab.setup.pages import notebook

OLD_PAGE, PAGE = Path("labs/lab05_delivery.ipynb"), Path("labs/05_delivery/lab05_delivery.ipynb")
OLD_PROGRAM = Path("labs/delivery/options.py")
PROGRAM = Path("labs/05_delivery/delivery/options.py")
OLD_DATA, DATA = Path("labs/data/iris.csv"), Path("labs/02_iris/data/iris.csv")
MOVES = [(OLD_PAGE, PAGE), (OLD_DATA, DATA), (OLD_PROGRAM, PROGRAM)]
FORMER = {OLD_PAGE: notebook("former"), OLD_PROGRAM: "former", OLD_DATA: "1,2\n"}
MINE = {OLD_PAGE: notebook("mine", output="seen"), OLD_PROGRAM: "mine", OLD_DATA: "5,6\n"}


@pytest.fixture
def course(tmp_path):
    """As it is now, with newer versions."""
    folder = tmp_path / "course"
    put(folder, {PAGE: notebook("fresh"), PROGRAM: "fresh", DATA: "3,4\n"})
    return folder


@pytest.fixture
def work(tmp_path):
    """Copies as the course before gave them out, with its notes."""
    folder = tmp_path / "work"
    put(folder, FORMER)
    sums = {str(path): copies.digest(path.suffix, text.encode()) for path, text in FORMER.items()}
    (folder / ".course.json").write_text(json.dumps(sums))
    return folder


def put(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def content(folder):
    """Every file of the learner's folder, the notes apart."""
    return {
        path.relative_to(folder): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".course.json"
    }


def fresh(course):
    return content(course)


def test_what_was_not_changed_goes_away_and_fresh_copies_come(course, work):
    put(work, {OLD_PAGE: notebook("former", output="was run")})
    put(work, {Path("labs/delivery/__pycache__/options.cpython-311.pyc"): ""})

    done = refresh(course, work)

    assert content(work) == fresh(course)
    assert not (work / "labs" / "delivery").exists()
    assert (done.carried.moved, sorted(done.copied)) == ([], sorted([PAGE, PROGRAM, DATA]))


def test_what_was_changed_moves_and_the_new_version_lies_beside_it(course, work):
    put(work, MINE)

    done = refresh(course, work)

    assert done.carried.moved == MOVES
    assert sorted(done.outdated) == sorted([PAGE, PROGRAM, DATA])
    moved = {new: MINE[old] for old, new in MOVES}
    beside = {
        new.with_name(f"{new.stem}.new{new.suffix}"): text for new, text in fresh(course).items()
    }
    assert content(work) == moved | beside


def test_a_second_run_does_nothing(course, work):
    put(work, MINE)
    refresh(course, work)
    before = content(work)

    done = refresh(course, work)

    assert content(work) == before
    assert done.carried == copies.Carried()
    assert (done.copied, done.replaced, done.beside) == ([], [], [])


@pytest.mark.parametrize("survived", [0, 1, 2])
def test_one_that_was_cut_off_between_two_moves_goes_on(course, work, monkeypatch, survived):
    put(work, MINE)
    replace, moves = Path.replace, []

    def cut_off(self, target):
        if self.name[0] != ".":
            if len(moves) == survived:
                raise KeyboardInterrupt
            moves.append(target)
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", cut_off)
        with pytest.raises(KeyboardInterrupt):
            refresh(course, work)
    refresh(course, work)

    found = content(work)
    assert {new: found[new] for _, new in MOVES} == {new: MINE[old] for old, new in MOVES}
    assert len(found) == 6  # three of the learner's, three new ones beside them


def test_what_a_learner_added_moves_too(course, work):
    own = {Path("labs/delivery/mine.py"): "own", Path("labs/data/.ipynb_checkpoints/x"): "own"}
    stays = {Path("labs/notes.ipynb"): "own", Path("labs/stock_producer.py"): "own"}
    put(work, own | stays)

    refresh(course, work)

    assert content(work) == fresh(course) | stays | {
        Path("labs/05_delivery/delivery/mine.py"): "own",
        Path("labs/02_iris/data/.ipynb_checkpoints/x"): "own",
    }


def test_what_lies_in_the_new_place_stays_and_both_are_named(course, work):
    put(work, {OLD_PAGE: MINE[OLD_PAGE], PAGE: notebook("mine too")})

    for _ in range(2):
        done = refresh(course, work)

        assert done.carried.twice == [(OLD_PAGE, PAGE)]
        assert (work / OLD_PAGE).read_text() == MINE[OLD_PAGE]
        assert (work / PAGE).read_text() == notebook("mine too")


def test_a_copy_in_the_new_place_that_nobody_changed_gives_way(course, work):
    refresh(course, work)
    put(work, {OLD_PAGE: MINE[OLD_PAGE]})

    assert refresh(course, work).carried.moved == [(OLD_PAGE, PAGE)]
    assert (work / PAGE).read_text() == MINE[OLD_PAGE]
    assert (work / PAGE.with_name("lab05_delivery.new.ipynb")).read_text() == notebook("fresh")


def test_the_same_in_both_places_is_kept_once(course, work):
    put(work, {OLD_PAGE: MINE[OLD_PAGE], PAGE: MINE[OLD_PAGE]})

    assert refresh(course, work).carried.twice == []
    assert not (work / OLD_PAGE).exists()
    assert (work / PAGE).read_text() == MINE[OLD_PAGE]


def test_a_newer_version_that_lay_beside_goes_unless_it_was_worked_on(course, work):
    known, worked_on = OLD_PAGE.with_name("lab05_delivery.new.ipynb"), "lab05_delivery.new2.ipynb"
    put(work, {OLD_PAGE: MINE[OLD_PAGE], known: notebook("former")})
    put(work, {OLD_PAGE.with_name(worked_on): notebook("mine too")})

    refresh(course, work)

    assert (work / PAGE.with_name(worked_on)).read_text() == notebook("mine too")
    assert (work / PAGE.with_name("lab05_delivery.new.ipynb")).read_text() == notebook("fresh")
    assert list((work / "labs").glob("*.ipynb")) == []


def test_without_notes_everything_counts_as_the_learners(course, work):
    (work / ".course.json").unlink()

    assert refresh(course, work).carried.moved == MOVES
    assert (work / PAGE).read_text() == FORMER[OLD_PAGE]


def test_an_open_file_and_one_that_may_not_be_written_move(course, work):
    put(work, MINE)
    (work / OLD_DATA).chmod(0o444)
    with (work / OLD_PAGE).open("a") as opened:
        refresh(course, work)
        opened.write("\n")

    assert (work / PAGE).read_text() == MINE[OLD_PAGE] + "\n"
    assert (work / DATA).read_text() == MINE[OLD_DATA]


def test_what_cannot_be_moved_stays_and_moves_when_it_can(course, work):
    put(work, MINE)
    put(work, {PROGRAM.parent: "a file in the place of the folder"})
    (course / PROGRAM).unlink()  # which the course wants there too

    done = refresh(course, work)

    ((refused, why),) = done.carried.refused
    assert (refused, bool(why)) == (OLD_PROGRAM, True)
    assert (work / OLD_PROGRAM).read_text() == MINE[OLD_PROGRAM]
    (work / PROGRAM.parent).unlink()
    assert refresh(course, work).carried.moved == [(OLD_PROGRAM, PROGRAM)]


def test_what_never_came_from_the_course_is_left_alone(course, work, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    put(elsewhere, {Path("mine.csv"): "own"})
    own = {Path("labs/lab05_delivery-Copy1.ipynb"): "own", Path("labs/lab77_own.ipynb"): "own"}
    put(work, own)
    (work / OLD_DATA).unlink()
    (work / OLD_DATA.parent).rmdir()
    for present in ("a link", "a file"):
        if present == "a link":
            (work / OLD_DATA.parent).symlink_to(elsewhere)
        else:
            (work / OLD_DATA.parent).unlink()
            put(work, {OLD_DATA.parent: "own"})
            own[OLD_DATA.parent] = "own"

        refresh(course, work)

        assert content(work).items() >= own.items()
        assert (elsewhere / "mine.csv").exists()
