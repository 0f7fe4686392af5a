"""`./course export`: what each platform takes, with its own ids and nothing else changed."""

import csv
import io
import json
import subprocess
import sys
import zipfile

import pytest

from commands import app
from grading.judge.outcome import Outcome
from tests.grading.classroom import Classroom, table_of


@pytest.fixture
def classroom(classroom) -> Classroom:
    """One with all points, one with 6, one that could not be read; one is missing."""
    classroom.write(
        "students.csv",
        "id,name,login,section\ns1,Ada Lee,ada@uni.example,A\ns2,Ben Ohm,ben@uni.example,B\n"
        "s3,Cem Ay,cem@uni.example,B\ns4,Dora Fox,dora@uni.example,B\n",
    )
    return classroom


def grade(room: Classroom, platform: str) -> Classroom:
    room.hand_in("Ada Lee", "41000", platform=platform)
    room.hand_in("Ben Ohm", "41001", ("doubled",), text="x = 2", platform=platform)
    room.hand_in("Cem Ay", "41002", refusal=Outcome.UNREADABLE, platform=platform)
    return room


def export(room: Classroom, *words: str) -> int:
    return app.main(["export", "90", *words, "--out", str(room.folder)])


def lines_of(room: Classroom, name: str) -> list[list[str]]:
    text = (room.store.folder / name).read_text("utf-8")
    return list(csv.reader(io.StringIO(text, newline="")))


def test_canvas_gets_its_header_its_points_possible_and_its_ids(classroom, capsys):
    grade(classroom, "Canvas")
    assert export(classroom, "--to", "canvas") == 0
    assert lines_of(classroom, "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab 90: Tiny"],
        ["    Points Possible", "", "", "", "", "8"],
        ["Ada Lee", "41000", "s1", "ada@uni.example", "A", "8"],
        ["Ben Ohm", "41001", "s2", "ben@uni.example", "B", "6"],
    ]
    said = capsys.readouterr().out
    assert "no number Cem Ay: unreadable: because it is empty" in said
    assert "no number Dora Fox (s4): nothing was handed in" in said


def test_the_number_of_another_platform_is_no_id_of_canvas(classroom):
    grade(classroom, "Moodle")
    assert export(classroom, "--to", "canvas") == 0
    assert lines_of(classroom, "canvas.csv")[2][:3] == ["Ada Lee", "", "s1"]


CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Lab 09 (77),Lab 90 (78),Final Score
,,,,,,Manual Posting,
    Points Possible,,,,,10,16,(read only)
"Fox, Dora",9,s4,dora,Sec 1,3,2,50
"Lee, Ada",7,s1,ada,Sec 1,4,,60
"Ohm, Ben",41000,s2,ben,Sec 1,5,,70
"=cmd()",8,s9,x,Sec 1,5,,70
"""


def test_canvas_own_table_keeps_ids_and_takes_nothing_else_back(classroom, tmp_path):
    grade(classroom, "Moodle")
    (tmp_path / "gradebook.csv").write_text(CANVAS)
    words = ("review", "90", "Dora Fox", "--excuse", "--why", "ill")
    assert app.main([*words, "--out", str(classroom.folder)]) == 0
    assert export(classroom, "--to", "canvas", "--table", str(tmp_path / "gradebook.csv")) == 0
    assert lines_of(classroom, "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab 90 (78)"],
        ["    Points Possible", "", "", "", "", "16"],
        ["Fox, Dora", "9", "s4", "dora", "Sec 1", "EX"],
        ["Lee, Ada", "7", "s1", "ada", "Sec 1", "16"],
        ["Ohm, Ben", "41000", "s2", "ben", "Sec 1", "12"],
    ], "on the scale of Canvas; whose id is Ada's number of Moodle has his own mark"


def test_a_column_that_is_not_plain_is_asked_for(classroom, tmp_path, capsys):
    grade(classroom, "Moodle")
    file = tmp_path / "gradebook.csv"
    file.write_text(CANVAS.replace("Lab 90 (78)", "Kafka (78)"))
    assert export(classroom, "--to", "canvas", "--table", str(file)) == 1
    assert "There are: Lab 09 (77), Kafka (78)." in capsys.readouterr().err
    words = ("--table", str(file), "--column", "kafka (78)")
    assert export(classroom, "--to", "canvas", *words) == 0
    assert lines_of(classroom, "canvas.csv")[0][-1] == "Kafka (78)"


MOODLE = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,\
Last modified (submission),Last modified (grade),Feedback comments
Participant 41000,Ada Lee,ada@uni.example,Submitted,,"100,00",Yes,-,-,
Participant 41002,Cem Ay,cem@uni.example,Submitted,55,"100,00",Yes,-,-,good
Participant 41001,B. Ohm,,Submitted,,"100,00",Yes,-,-,
"""


def test_moodles_worksheet_is_filled_and_who_has_no_mark_is_left_alone(classroom, tmp_path):
    grade(classroom, "Moodle")
    (tmp_path / "sheet.csv").write_text("\ufeff" + MOODLE, "utf-8")
    words = ("review", "90", "Ben Ohm", "--comment", "=1+1 <b>")
    assert app.main([*words, "--by", "=Ms Berg", "--out", str(classroom.folder)]) == 0
    assert export(classroom, "--to", "moodle", "--table", str(tmp_path / "sheet.csv")) == 0
    rows = table_of((classroom.store.folder / "moodle.csv").read_text("utf-8"))
    assert [(r["Identifier"], r["Grade"], r["Feedback comments"]) for r in rows] == [
        ("Participant 41000", "100", ""),
        ("Participant 41001", "75", "'=Ms Berg writes: =1+1 &lt;b&gt;"),
    ]
    assert rows[0]["Last modified (grade)"] == "-"


def test_without_a_worksheet_moodle_gets_one_with_all_columns_that_it_asks_for(classroom):
    grade(classroom, "Moodle")
    assert export(classroom, "--to", "moodle") == 0
    rows = table_of((classroom.store.folder / "moodle.csv").read_text("utf-8"))
    assert list(rows[0]) == MOODLE.splitlines()[0].split(",")
    assert [(r["Identifier"], r["Grade"], r["Maximum Grade"]) for r in rows] == [
        ("Participant 41000", "8", "8"),
        ("Participant 41001", "6", "8"),
    ]


def test_a_number_that_is_not_moodles_makes_no_participant(classroom, capsys):
    grade(classroom, "Canvas")
    assert export(classroom, "--to", "moodle") == 1
    said = capsys.readouterr()
    assert "no row Ada Lee: Moodle's number is not known" in said.out
    assert not (classroom.store.folder / "moodle.csv").exists()


def test_two_people_of_one_name_are_not_mixed_up(classroom, tmp_path, capsys):
    classroom.write("students.csv", "id,name\n")
    classroom.hand_in("Ada Lee", "41000", shown="Ada Lee (41000)", platform="Moodle")
    classroom.hand_in("Ada Lee", "5", text="x = 2", shown="Ada Lee (5)", platform="Gradescope")
    (tmp_path / "sheet.csv").write_text(
        "Identifier,Full name,Grade\nParticipant 40999,Ada Lee,\nParticipant 41000,Ada Lee,\n"
    )
    assert export(classroom, "--to", "moodle", "--table", str(tmp_path / "sheet.csv")) == 0
    rows = table_of((classroom.store.folder / "moodle.csv").read_text("utf-8"))
    assert [(row["Identifier"], row["Grade"]) for row in rows] == [("Participant 41000", "8")]
    assert "no row Ada Lee (5): no row of the table is certainly theirs" in capsys.readouterr().out


def test_gradescope_gets_an_autograder_that_knows_the_marks(classroom, tmp_path):
    grade(classroom, "Gradescope")
    words = ("review", "90", "Ben Ohm", "--comment", "well done", "--by", "Ms Berg")
    app.main([*words, "--out", str(classroom.folder)])
    assert export(classroom, "--to", "gradescope") == 0
    place_there = tmp_path / "autograder"
    with zipfile.ZipFile(classroom.store.folder / "gradescope.zip") as archive:
        archive.extractall(place_there / "source")
    (place_there / "source" / "run_autograder").rename(place_there / "run_autograder")

    def run(user: dict) -> subprocess.CompletedProcess:
        (place_there / "submission_metadata.json").write_text(json.dumps({"users": [user]}))
        return subprocess.run(
            [sys.executable, str(place_there / "run_autograder")], capture_output=True, text=True
        )

    assert run({"email": "Ben@uni.example", "name": "B"}).returncode == 0
    result = json.loads((place_there / "results" / "results.json").read_text())
    assert (result["score"], result["output"]) == (6.0, "Ms Berg writes: well done")
    assert [(one["name"], one["score"], one["max_score"]) for one in result["tests"]] == [
        ("Task 1: Double the number", 0, 2),
        ("Task 2: Write a function", 4, 4),
        ("Task 3: Say the name", 2, 2),
    ]
    unknown = run({"email": "cem@uni.example", "sid": "s3", "name": "Cem Ay"})
    assert unknown.returncode != 0
    assert "There is no mark for cem@uni.example, s3, Cem Ay." in unknown.stderr


def test_gradescope_knows_nobody_by_the_number_of_another_platform(classroom):
    grade(classroom, "Moodle")
    classroom.hand_in("Ada Lee", "41005", text="x = 3", platform="Moodle", shown="Ada Lee (41005)")
    assert export(classroom, "--to", "gradescope") == 0
    with zipfile.ZipFile(classroom.store.folder / "gradescope.zip") as archive:
        known = json.loads(archive.read("marks.json"))
    assert sorted(known) == ["ada lee", "ada@uni.example", "ben ohm", "ben@uni.example", "s1", "s2"]


def test_a_plain_table_has_everybody_and_no_formula(classroom):
    grade(classroom, "Moodle")
    classroom.hand_in("=HYPERLINK(1)", "41009", text="x = 9")
    assert export(classroom, "--to", "csv") == 0
    rows = table_of((classroom.store.folder / "marks.csv").read_text("utf-8"))
    assert [(row["id"], row["name"], row["points"]) for row in rows] == [
        ("s1", "Ada Lee", "8"),
        ("s2", "Ben Ohm", "6"),
        ("s3", "Cem Ay", "unreadable"),
        ("41009", "'=HYPERLINK(1)", "8"),
        ("s4", "Dora Fox", ""),
    ]
    assert rows[2]["remarks"] == "because it is empty"


@pytest.mark.parametrize("to", ["moodle", "canvas"])
def test_a_table_of_something_else_is_refused(classroom, tmp_path, to, capsys):
    grade(classroom, "Moodle")
    (tmp_path / "other.csv").write_text("Kennung,Name,Lab 90,Grade\n1,Ada,,\n")
    assert export(classroom, "--to", to, "--table", str(tmp_path / "other.csv")) == 1
    assert "This is no table of" in capsys.readouterr().err


def test_of_two_hand_ins_of_one_person_the_better_one_is_exported(classroom, capsys):
    classroom.hand_in("Ada Lee", "41000", ("doubled",), platform="Moodle")
    classroom.hand_in("s1", text="x = 2")
    assert export(classroom, "--to", "canvas") == 0
    assert [line[5] for line in lines_of(classroom, "canvas.csv")[2:]] == ["8"]
    assert export(classroom, "--to", "gradescope") == 0
    with zipfile.ZipFile(classroom.store.folder / "gradescope.zip") as archive:
        assert json.loads(archive.read("marks.json"))["ada@uni.example"]["score"] == 8
    assert app.main(["book", "--out", str(classroom.folder)]) == 0
    rows = table_of((classroom.folder / "book.csv").read_text("utf-8"))
    assert [row["points"] for row in rows if row["id"] == "s1"] == ["8"]
    assert "s1: 2 hand-ins are from one person" in capsys.readouterr().out


def test_a_number_that_is_somebody_elses_in_the_table_is_not_followed(classroom, tmp_path, capsys):
    grade(classroom, "Canvas")
    file = tmp_path / "gradebook.csv"
    file.write_text(
        "Student,ID,Section,Lab 90 (78)\n    Points Possible,,,8\n"
        '"Roe, Eve",41000,1,\n"Ohm, Ben",41001,1,\n'
    )
    assert export(classroom, "--to", "canvas", "--table", str(file)) == 0
    assert [line[0] for line in lines_of(classroom, "canvas.csv")[2:]] == ["Ohm, Ben"]
    assert "no row Ada Lee" in capsys.readouterr().out
