"""What the screen says of a class is what its page says."""

import html
from dataclasses import replace

import pytest
from rich.console import Console

from commands.board import Board, print_class
from grading.define import definition
from grading.judge.outcome import Outcome
from grading.keep.report_class import class_page
from grading.keep.words import as_number
from grading.run.lanes import Progress
from tests.grading.classroom import Classroom


@pytest.fixture
def lab(course):
    return definition.load("lab90_tiny", course)


@pytest.fixture
def records(lab, tmp_path):
    room = Classroom(tmp_path / "grades", lab)
    ended = room.hand_in("Carl", failed=("doubled",))
    return [
        room.hand_in("Anna"),
        room.hand_in("Ben", refusal=Outcome.UNREADABLE),
        replace(ended, outcome=Outcome.STUDENT_ERROR, seconds={"load": 9.0}),
        replace(ended, student="Dora", outcome=Outcome.TIMEOUT, why="task 2 ran too long"),
        room.hand_in("Emma", refusal=Outcome.INFRA),
    ]


def test_each_has_the_words_of_the_page_and_the_class_is_counted_by_them(lab, records):
    screen = Console(record=True, width=300)
    print_class(screen, lab, records)
    shown = screen.export_text()
    page = html.unescape(class_page(lab, records))
    for words in (
        "no readable notebook: because it is empty",
        "partly passed; a cell raised an error; the machine had far too much to do then",
        "partly passed; a cell took too long: task 2 ran too long",
        "the grader could not run it (not the student's fault); grade again",
    ):
        assert words in shown
        assert words in page
    assert "5 hand-ins: 1 passed, 1 no readable notebook, 1 partly passed; a cell raised" in shown
    assert "student_error" not in shown


def test_a_line_for_each_that_is_done_says_the_same_in_short(records):
    screen = Console(record=True, width=300)
    board = Board(screen, 5)
    for record in records:
        board.tell(Progress(0, record.student, {"event": "end"}, record))
    lines = screen.export_text().splitlines()
    assert lines[0] == "1 of 5 Anna: passed, 8 of 8"
    assert lines[1] == "2 of 5 Ben: no readable notebook, no points"
    assert lines[2].startswith("3 of 5 Carl: partly passed; a cell raised an error, 6 of 8")
    assert lines[4].endswith("(not the student's fault), ? of 8")


@pytest.mark.parametrize(
    ("points", "text"), [(None, "?"), (10, "10"), (5.333, "5.33"), (0.5, "0.5"), (100.0, "100")]
)
def test_points_are_written_without_needless_digits(points, text):
    assert as_number(points) == text
