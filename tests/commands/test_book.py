"""`./course book`: all labs of a class in one table."""

import shutil

import pytest

from commands import app
from grading.define import definition
from grading.judge.outcome import Outcome
from tests.grading.classroom import Classroom, table_of
from tests.grading.tiny import write_course


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = write_course(tmp_path_factory.mktemp("course"))
    for folder in (root / "labs", root / "grading" / "labs"):
        shutil.copytree(folder / "90_tiny", folder / "91_other")
    return root


@pytest.fixture
def labs(course, at_home, tmp_path) -> list[Classroom]:
    """Two labs of one class."""
    both = [definition.load(name, course) for name in ("90", "91")]
    return [Classroom(tmp_path / "grades", lab) for lab in both]


def book(labs) -> list[dict[str, str]]:
    folder = labs[0].folder
    assert app.main(["book", "--out", str(folder)]) == 0
    return table_of((folder / "book.csv").read_text("utf-8"))


def test_with_a_roster_a_person_is_one_row_whatever_the_platform(labs, capsys):
    first, second = labs
    first.write("students.csv", "id,name,section\ns1,Ada Lee,A\ns2,Ben Ohm,B\ns3,Cem Ay,B\n")
    first.hand_in("Ada Lee", "41000", platform="Moodle")
    first.hand_in("Ben Ohm", "41001", ("doubled",), text="x = 2", platform="Moodle")
    second.hand_in("leeada", "7", refusal=Outcome.UNREADABLE, platform="Canvas")
    words = ["review", "90", "Cem Ay", "--excuse", "--why", "ill", "--out", str(first.folder)]
    assert app.main(words) == 0
    rows = book(labs)
    assert [tuple(row.values()) for row in rows] == [
        ("s1", "Ada Lee", "", "A", "8", "unreadable", "8", "16"),
        ("s2", "Ben Ohm", "", "B", "6", "", "6", "16"),
        ("s3", "Cem Ay", "", "B", "excused", "", "0", "8"),
    ]
    assert list(rows[0])[4:6] == ["lab90", "lab91"]
    said = capsys.readouterr().out
    assert "look at: lab91_other: nothing was handed in by Ben Ohm (s2)" in said
    page = (first.folder / "book.html").read_text("utf-8")
    assert "3 people, 2 labs" in page
    (mine,) = (first.store.folder / "students").glob("41000*")
    assert f'href="lab90_tiny/students/{mine.name}"' in page


def test_without_a_roster_numbers_of_canvas_join_and_those_of_moodle_do_not(labs):
    first, second = labs
    first.hand_in("Ada Lee", "7", platform="Canvas")
    second.hand_in("leeada", "7", ("doubled",), platform="Canvas")
    first.hand_in("Ben Ohm", "41001", text="x = 2", platform="Moodle")
    second.hand_in("Cem Ay", "41001", text="x = 3", platform="Moodle")
    second.hand_in("Ben Ohm", "41009", ("doubled",), text="x = 2", platform="Moodle")
    assert [(row["name"], row["lab90"], row["lab91"]) for row in book(labs)] == [
        ("Ada Lee", "8", "6"),
        ("Ben Ohm", "8", "6"),
        ("Cem Ay", "", "8"),
    ]


def test_rules_and_decisions_are_in_the_book(labs):
    first, _ = labs
    first.write(
        "class.toml", "[labs.90]\ndue = 2026-11-27T18:00:00Z\nlate = { percent_per_day = 50 }\n"
    )
    first.hand_in("Ada Lee", "7", handed_in="2026-11-28T01:00:00Z")
    assert [(row["lab90"], row["points"]) for row in book(labs)] == [("4", "4")]


def test_a_book_of_nothing_says_what_to_do(tmp_path, capsys):
    assert app.main(["book", "--out", str(tmp_path)]) == 1
    assert "Nothing is graded in" in capsys.readouterr().err
