"""`./course review`: a teacher's word, kept over whatever is run or scored again."""

import json

import pytest

from commands import app
from grading.judge.outcome import Outcome
from tests.grading.classroom import Classroom, table_of


@pytest.fixture
def classroom(classroom) -> Classroom:
    classroom.hand_in("Ada Lee", "41000", failed=("words_reversed", "name_said"))
    classroom.hand_in("Ben Ohm", "41001", text="x = 2")
    return classroom


def review(classroom, *words: str) -> int:
    return app.main(["review", "90", *words, "--out", str(classroom.folder), "--by", "Ms Berg"])


def row(classroom, name: str) -> dict[str, str]:
    rows = table_of((classroom.store.folder / "class.csv").read_text("utf-8"))
    return next(row for row in rows if row["student"] == name)


def page(classroom, name: str) -> str:
    (file,) = (classroom.store.folder / "students").glob(f"{name}*.html")
    return file.read_text("utf-8")


def test_points_for_a_check_stand_everywhere_with_who_and_why(classroom, capsys):
    words = ("Ada Lee", "words_reversed", "--points", "1.5", "--why", "The words were mistyped")
    assert review(classroom, *words) == 0
    said = "Task 2, Words are reversed: 1.5 of 2 points, set by Ms Berg: The words were mistyped"
    assert said in capsys.readouterr().out
    mine = row(classroom, "Ada Lee")
    assert (mine["points"], mine["task 2"], mine["words_reversed"]) == ("5.5", "3.5", "1.5")
    assert said in mine["notes"]
    shown = page(classroom, "41000")
    assert said in shown.split('<section id="task-2">')[1].split("</section>")[0]
    assert "5.5 of 8 points" in shown
    assert said in (classroom.store.folder / "class.html").read_text("utf-8")
    assert row(classroom, "Ben Ohm")["points"] == "8"


def test_it_is_kept_when_a_hand_in_is_run_again_and_when_points_are_made_anew(classroom):
    review(classroom, "41000", "words_reversed", "--points", "2", "--why", "a")
    classroom.hand_in("Ada Lee", "41000", failed=("words_reversed",), text="x = 3")
    assert app.main(["rescore", "90", "--out", str(classroom.folder)]) == 0
    assert row(classroom, "Ada Lee")["points"] == "8"
    kept = json.loads((classroom.store.attempt(classroom.store.class_keys()["41000"]) /
                       "record.json").read_text())  # fmt: skip
    assert kept["reached"] == 6, "what was seen stays what was seen"


def test_an_excused_check_counts_neither_way(classroom):
    assert review(classroom, "Ada Lee", "name_said", "--excuse", "--why", "ill") == 0
    mine = row(classroom, "Ada Lee")
    assert (mine["points"], mine["of"], mine["name_said"]) == ("4", "6", "excused")
    shown = page(classroom, "41000")
    assert "4 of 6 points" in shown
    assert "Task 3, The name is said: does not count, excused by Ms Berg: ill" in shown
    assert "0 of 0 points" in shown.split('<section id="task-3">')[1]


def test_an_excuse_for_the_lab_leaves_no_number_and_a_comment_is_told(classroom):
    review(classroom, "Ada Lee", "--excuse", "--why", "ill", "--comment", "Get <b>well</b>")
    mine = row(classroom, "Ada Lee")
    assert mine["points"] == "excused"
    assert "Ms Berg writes: Get <b>well</b>" in mine["notes"]
    shown = page(classroom, "41000")
    assert "Excused by Ms Berg, this lab does not count: ill" in shown
    assert "Ms Berg writes: Get &lt;b&gt;well&lt;/b&gt;" in shown


def test_points_for_the_lab_are_final_and_no_late_rule_changes_them(classroom):
    classroom.write(
        "class.toml",
        "[labs.lab90]\ndue = 2026-11-27T18:00:00Z\nlate = { percent_per_day = 50 }\n",
    )
    classroom.hand_in("Cem", "9", handed_in="2026-11-28T12:00:00Z", text="x = 9")
    review(classroom, "Cem", "any_word_reversed", "--points", "0", "--why", "copied")
    assert row(classroom, "Cem")["points"] == "3", "half of 6"
    review(classroom, "Cem", "--points", "7", "--why", "the network was down")
    assert row(classroom, "Cem")["points"] == "7"


def test_each_word_is_taken_back_by_itself(classroom, capsys):
    review(classroom, "Ada Lee", "words_reversed", "--points", "2", "--why", "a")
    review(classroom, "Ada Lee", "words_reversed", "--points", "1", "--why", "b")
    review(classroom, "Ada Lee", "--comment", "well done")
    assert review(classroom, "Ada Lee", "words_reversed", "--undo") == 0
    assert row(classroom, "Ada Lee")["points"] == "6", "the former word holds again"
    assert "well done" in row(classroom, "Ada Lee")["notes"]
    assert review(classroom, "Ada Lee", "--undo") == 0
    assert review(classroom, "Ada Lee", "--undo") == 0
    assert row(classroom, "Ada Lee")["points"] == "4"
    assert review(classroom, "Ada Lee", "--undo") == 1
    assert "Nothing was decided about that." in capsys.readouterr().err
    kept = json.loads((classroom.store.folder / "decisions.json").read_text())
    assert len(kept) == 6, "what was taken back stays on record"


def test_what_the_grader_could_not_judge_has_the_teachers_points(classroom):
    classroom.hand_in("Cem", "9", refusal=Outcome.UNREADABLE)
    classroom.hand_in("Dora", "10", refusal=Outcome.INFRA)
    review(classroom, "Cem", "--points", "5", "--why", "read from the PDF")
    review(classroom, "Dora", "--points", "6", "--why", "run by hand")
    assert row(classroom, "Cem")["points"] == "5"
    assert row(classroom, "Dora")["points"] == "6"
    assert "Points will follow" not in page(classroom, "10")


def test_somebody_without_a_hand_in_is_decided_about_by_the_roster(classroom, capsys):
    classroom.write("students.csv", "id,name\n41000,Eve Roe\ns2,Ada Lee\ns3,Ben Ohm\n")
    assert review(classroom, "Eve Roe", "--excuse", "--why", "abroad") == 0
    assert "Nothing was handed in; excused by Ms Berg: abroad" in capsys.readouterr().out
    assert row(classroom, "Eve Roe")["points"] == "excused"
    assert row(classroom, "Ada Lee")["points"] == "4", "whose Moodle number is Eve's id"
    classroom.hand_in("Eve Roe", "41005", text="x = 7")
    review(classroom, "Ada Lee", "--comment", "hello")
    assert row(classroom, "Eve Roe")["points"] == "excused", "also when she hands in after all"


def test_without_a_person_it_lists_what_there_is_to_look_at(classroom, capsys):
    classroom.hand_in("Cem", "9", refusal=Outcome.UNREADABLE)
    review(classroom, "Ada Lee", "name_said", "--points", "1", "--why", "close")
    capsys.readouterr()
    assert review(classroom) == 0
    said = capsys.readouterr().out
    assert "Cem [9]: unreadable. because it is empty" in said
    assert "Ada Lee [41000]: 5 of 8. Task 3, The name is said: 1 of 2 points, set by" in said
    assert "Ben Ohm" not in said
    assert review(classroom, "Benno") == 1
    assert "Nobody in lab90_tiny is called Benno." in capsys.readouterr().err


def test_a_part_of_a_name_will_do_where_it_is_one_persons(classroom, capsys):
    classroom.hand_in("Ben Young", "41007", text="x = 7")
    assert review(classroom, "ada") == 0
    assert review(classroom, "ohm, ben") == 0
    assert review(classroom, "ben") == 1
    assert "There are Ben Ohm [41001]; Ben Young [41007]." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("Ada Lee", "no_such", "--points", "1", "--why", "a"), "There are doubled"),
        (("Ada Lee", "doubled", "--points", "3", "--why", "a"), "It has 2."),
        (("Ada Lee", "doubled", "--points", "nan", "--why", "a"), "cannot be given"),
        (("Ada Lee", "--points", "-1", "--why", "a"), "It has 8."),
        (("Ada Lee", "--points", "1"), "need their reason"),
        (("Ada Lee", "--excuse", "--why", " "), "need their reason"),
        (("Ada Lee", "--excuse", "--points", "1", "--why", "a"), "Choose one."),
    ],
)
def test_what_cannot_be_decided_is_refused(classroom, words, said, capsys):
    assert review(classroom, *words) == 1
    assert said in capsys.readouterr().err
    assert not (classroom.store.folder / "decisions.json").exists()


def test_a_word_about_a_check_that_is_gone_is_told(classroom, capsys):
    review(classroom, "Ada Lee", "doubled", "--points", "1", "--why", "a")
    file = classroom.store.folder / "decisions.json"
    file.write_text(file.read_text().replace('"doubled"', '"tripled"'))
    capsys.readouterr()
    review(classroom)
    assert "mark of Ms Berg for hand-in 41000 tripled: that is not there" in capsys.readouterr().out
    assert row(classroom, "Ada Lee")["points"] == "3", "until pages are written anew"


def test_decisions_that_cannot_be_read_are_not_taken_for_none(classroom, capsys):
    review(classroom, "Ada Lee", "doubled", "--points", "1", "--why", "a")
    (classroom.store.folder / "decisions.json").write_text("[{]")
    assert review(classroom, "Ada Lee", "--comment", "b") == 1
    assert "Restore it from a copy." in capsys.readouterr().err
