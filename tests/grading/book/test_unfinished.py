"""What a teacher is told of hand-ins that have no mark of a run: to be graded, unreadable, by hand.

Through the commands, with the tiny lab; nothing runs.
"""

import zipfile

import pytest

from commands import app
from grading.define import place
from grading.judge.outcome import Outcome
from grading.run.lanes import Lanes
from tests.grading.classroom import Classroom, table_of

NOTEBOOK = '{"cells": [{"cell_type": "code", "source": "# Task 1\\nx = %d"}], "nbformat": 4}'
WAITS = "the hand-in is not graded yet"


@pytest.fixture
def classroom(classroom, course, monkeypatch) -> Classroom:
    """The same, where the commands find it."""
    monkeypatch.setattr(place, "repository", lambda: course)
    return classroom


def call(classroom: Classroom, verb: str, *words: str) -> int:
    return app.main([verb, "90", *words, "--out", str(classroom.folder)])


def rows(classroom: Classroom) -> dict[str, dict[str, str]]:
    text = (classroom.store.folder / "class.csv").read_text("utf-8")
    return {row["student"]: row for row in table_of(text)}


def uploaded(classroom: Classroom, **texts: str) -> str:
    upload = classroom.folder.parent / "Lab 90-4711.zip"
    with zipfile.ZipFile(upload, "w") as archive:
        for number, (name, text) in enumerate(texts.items(), 41000):
            folder = f"{name.replace('_', ' ')}_{number}_assignsubmission_file"
            archive.writestr(f"{folder}/lab90_tiny.ipynb", text)
    return str(upload)


@pytest.fixture
def interrupted(classroom, monkeypatch, capsys) -> Classroom:
    """Ada is graded; then a class with Ben and a guest is begun, and cut off at once."""
    classroom.hand_in("Ada Lee", "41000", text="x = 0", platform="Moodle")

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Lanes, "run", cut_off)
    upload = uploaded(classroom, Ada_Lee=NOTEBOOK % 1, Ben_Ohm=NOTEBOOK % 2, Guest_X=NOTEBOOK % 3)
    assert call(classroom, "grade", upload, "--trust-students") == 130
    assert "The same command goes on where this one stops." in capsys.readouterr().out
    return classroom


@pytest.mark.parametrize("has_roster", [True, False])
def test_a_hand_in_that_waits_is_not_called_missing(interrupted, has_roster, capsys):
    if has_roster:
        interrupted.write("students.csv", "id,name\ns1,Ada Lee\ns2,Ben Ohm\ns3,Cem Ay\n")
    ben = "Ben Ohm (s2)" if has_roster else "Ben Ohm"

    assert call(interrupted, "report") == 0
    said = capsys.readouterr().out
    assert f"not graded yet, and the same ./course grade goes on with it: {ben}; Guest X" in said
    assert "what was graded before counts till then: Ada Lee" in said
    missing = "nothing was handed in by "
    assert [line.partition(missing)[2] for line in said.splitlines() if missing in line] == (
        ["Cem Ay (s3)"] if has_roster else []
    )
    found = rows(interrupted)
    assert found["Ada Lee"]["points"] == "8"
    assert (found["Ben Ohm"]["points"], found["Ben Ohm"]["says"]) == ("", WAITS)
    assert found["Guest X"]["says"] == WAITS
    page = (interrupted.store.folder / "class.html").read_text("utf-8")
    others = ", 1 of the class without one" if has_roster else ""
    assert f"1 hand-in, 2 more not graded yet{others}." in page
    assert call(interrupted, "export", "--to", "moodle") == 0
    said = capsys.readouterr().out
    assert f"no number {ben}: {WAITS}" in said
    assert "what was graded before counts till then: Ada Lee" in said

    interrupted.hand_in("Ben Ohm", "41001", text="# Task 1\nx = 2", platform="Moodle")
    waits = interrupted.store.waiting()
    assert {one.student for one in waits} >= {"Ada Lee", "Guest X"}


def test_whom_nothing_tells_apart_is_not_called_missing(classroom, capsys):
    classroom.write("students.csv", 'id,name\ns1,Ben Kim\ns2,"Kim, Ben"\ns3,Cem Ay\n')
    classroom.hand_in("Ben Kim", "41001", platform="Moodle", shown="Ben Kim (41001)")
    assert call(classroom, "report") == 0
    said = capsys.readouterr().out
    assert "Ben Kim (41001): several of students.csv could be meant: s1, s2; Moodle's" in said
    assert "nothing was handed in by Cem Ay (s3)" in said.splitlines()[0]
    says = {row["id"]: row["says"] for row in rows(classroom).values()}
    assert says["s2"] == "nobody can say whether this is theirs: Ben Kim (41001)"
    page = (classroom.store.folder / "class.html").read_text("utf-8")
    assert "1 hand-in, 1 of the class without one" in page


def test_what_was_graded_since_waits_no_more(classroom, capsys):
    upload = uploaded(classroom, Ada_Lee="{", Ben_Ohm="")
    assert call(classroom, "grade", upload, "--trust-students") == 0
    assert call(classroom, "report") == 0
    assert "not graded yet" not in capsys.readouterr().out
    assert classroom.store.waiting() == []


def test_an_unreadable_hand_in_has_numbers_only_where_a_teacher_gave_them(classroom, capsys):
    classroom.hand_in("Cem Ay", "41002", refusal=Outcome.UNREADABLE)
    numbers = ("points", "task 1", "task 2", "doubled", "words_reversed")

    def of_cem() -> list[str]:
        assert call(classroom, "report") == 0
        return [rows(classroom)["Cem Ay"][name] for name in numbers]

    assert of_cem() == ["unreadable", "", "", "", ""]
    capsys.readouterr()
    assert call(classroom, "review", "Cem Ay") == 0
    assert "1  doubled: ? of 2  The number is doubled" in capsys.readouterr().out
    why = ("--why", "read by hand", "--by", "Ms Berg")
    assert call(classroom, "review", "Cem Ay", "doubled", "--points", "1.5", *why) == 0
    assert of_cem() == ["1.5", "1.5", "", "1.5", ""]
    (page,) = (classroom.store.folder / "students").iterdir()
    said = page.read_text("utf-8")
    assert "1.5 of 8 points" in said
    assert "Task 1, The number is doubled: 1.5 of 2 points, set by Ms Berg: read by hand" in said
    assert call(classroom, "review", "Cem Ay", "--points", "5", *why) == 0
    assert call(classroom, "review", "Cem Ay", "doubled", "--undo", *why) == 0
    assert of_cem() == ["5", "", "", "", ""]


def test_what_was_unreadable_twice_is_one_hand_in_and_late(classroom, capsys):
    classroom.write("students.csv", "id,name,lab90\ns1,Cem Ay,2026-11-28T12:00:00\n")
    classroom.write(
        "class.toml",
        'timezone = "UTC"\n[late]\npercent_per_day = 50\n'
        '[labs.lab90]\ndue = 2026-11-28T10:00:00\ncounts = "best"\n',
    )
    for reason in ("it is cut off", "it is damaged"):
        classroom.hand_in("Cem Ay", refusal=Outcome.UNREADABLE, why=reason)
    why = ("--why", "read by hand", "--by", "Ms Berg")
    assert call(classroom, "review", "Cem Ay", "doubled", "--points", "2", *why) == 0
    assert call(classroom, "report") == 0
    assert "counted as in time" not in capsys.readouterr().out
    assert rows(classroom)["Cem Ay"]["points"] == "1"


def test_what_counts_stands_in_the_table_of_a_class_that_is_graded_again(classroom, capsys):
    upload = uploaded(classroom, Ada_Lee="{", Ben_Ohm="")
    assert call(classroom, "grade", upload, "--trust-students") == 0
    assert "Ada Lee" in capsys.readouterr().out
    why = ("--why", "read by hand", "--by", "Ms Berg")
    assert call(classroom, "review", "Ada Lee", "--points", "5", *why) == 0
    assert call(classroom, "review", "Ben Ohm", "--excuse", *why) == 0
    capsys.readouterr()
    assert call(classroom, "grade", upload, "--trust-students") == 0
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "5 of 8 (the" in said
    assert "excused (the" in said
