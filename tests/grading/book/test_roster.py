"""Who is in the class, and which hand-in is whose."""

import pytest

from grading.book import names
from grading.book.classbook import ClassBook, keep_roster
from grading.judge.outcome import Outcome
from grading.keep import report
from kafkalab.errors import CourseError
from tests.grading.classroom import table_of

ROSTER = """\
id,name,login,section,extra time
s100,"Lee, Ada",ada@uni.example,A,30 min
s101,Ben Ohm,bohm,B,
s102,Zoë Große,zg,B,
"""


def whose(classroom) -> dict[str, str]:
    found = ClassBook.read(classroom.folder).lab(classroom.lab.name)
    return {
        entry.record.student: entry.found.person.id if entry.found.person else entry.found.why
        for entry in found.marks
    }


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("Ada Lee", {}),
        ("leeada", {"number": "5100"}),
        ("LEE ada", {"number": "41000"}),
        ("ada", {}),
        ("s100", {}),
        ("lee_ada_s100", {}),
        ("A. Lee", {"number": "s100"}),
        ("somebody", {"login": "ada@uni.example", "number": "77"}),
    ],
)
def test_a_hand_in_finds_its_person_by_id_login_or_name(classroom, name, fields):
    classroom.write("students.csv", ROSTER)
    classroom.hand_in(name, **fields)
    assert whose(classroom) == {name: "s100"}


def test_accents_and_double_letters_make_no_other_person(classroom):
    classroom.write("students.csv", ROSTER)
    classroom.hand_in("Zoe Grosse")
    assert whose(classroom) == {"Zoe Grosse": "s102"}


def test_a_number_of_another_platform_gives_nobody_the_mark_of_somebody_else(classroom):
    classroom.write("students.csv", "id,name\n5100,Ada Lee\n5101,Ben Ohm\n")
    classroom.hand_in("Ben Ohm", "5100")
    classroom.hand_in("Carla Diaz", "5101")
    assert whose(classroom) == {
        "Ben Ohm": "5101",
        "Carla Diaz": "the id 5101 is that of Ben Ohm",
    }


def test_of_two_people_of_one_name_nobody_is_guessed(classroom):
    classroom.write("students.csv", "id,name\n1,Ada Lee\n2,Ada Lee\n")
    classroom.hand_in("Ada Lee", "41000", shown="Ada Lee (41000)")
    classroom.hand_in("Ada Lee", "2", shown="Ada Lee (2)")
    found = whose(classroom)
    assert found["Ada Lee (2)"] == "2"
    assert "several of students.csv could be meant: 1, 2" in found["Ada Lee (41000)"]


def test_who_is_missing_and_who_is_a_stranger_is_told_and_stands_in_the_table(classroom, tiny):
    classroom.write("students.csv", ROSTER)
    classroom.hand_in("Ada Lee", "41000")
    classroom.hand_in("Guest", "41001", text="x = 2")
    report.write(tiny, classroom.store)

    said = ClassBook.read(classroom.folder).lab(tiny.name).problems()

    assert "nothing was handed in by Ben Ohm (s101); Zoë Große (s102)" in said
    assert "Guest: nobody of students.csv has this name, id or login" in said
    rows = table_of((classroom.store.folder / "class.csv").read_text("utf-8"))
    assert [(row["student"], row["id"], row["section"], row["points"]) for row in rows] == [
        ("Guest", "41001", "", "8"),
        ("Lee, Ada", "s100", "A", "8"),
        ("Ben Ohm", "s101", "B", ""),
        ("Zoë Große", "s102", "B", ""),
    ]
    assert rows[2]["says"] == "nothing was handed in"
    page = (classroom.store.folder / "class.html").read_text("utf-8")
    assert "2 hand-ins, 2 of the class without one" in page
    assert page.count("nothing was handed in") == 2


def test_two_hand_ins_of_one_person_are_told(classroom):
    classroom.write("students.csv", ROSTER)
    classroom.hand_in("Ada Lee", "41000")
    classroom.hand_in("s100", text="x = 2")
    said = ClassBook.read(classroom.folder).lab(classroom.lab.name).problems()
    assert "s100: 2 hand-ins are from one person" in said


def test_without_a_roster_nobody_is_a_stranger(classroom):
    classroom.hand_in("Ada Lee", "41000")
    classroom.hand_in("Ben", refusal=Outcome.UNREADABLE)
    assert ClassBook.read(classroom.folder).lab(classroom.lab.name).problems() == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("grade,points\n1,2\n", "line 1: there is no column id and none name"),
        ("id,name\n1,Ada\n1,Ben\n", "line 3: the id 1 stands on line 2 too"),
        ("id,login\n1,x\n2,X\n", "line 3: the login x stands on line 2 too"),
        ("id,name\n1,Ada\n,\n,,Ben\n", "line 4: it has 3 cells, and there are 2 columns"),
        ("id,name,section\n,,A\n", "line 2: there is neither an id nor a name"),
        ("id,extra time\n1,30\n", 'line 2: "30" is no length of time; write it as "30 min"'),
        ("id,lab01\n1,yesterday\n", 'line 2: "yesterday" is no time'),
        ("id,id\n1,2\n", "line 1: there are two columns id"),
        ('id,name\n1,"Ada\nLee"\n1,Ben\n', "line 4: the id 1 stands on line 3 too"),
        ("id,name\n" + "1,A\n" * 9, "and 3 more"),
    ],
)
def test_a_bad_roster_is_refused_whole_and_the_line_is_named(classroom, tmp_path, text, said):
    file = tmp_path / "class list.csv"
    file.write_text(text)
    with pytest.raises(CourseError) as refused:
        keep_roster(file, classroom.folder)
    assert said in str(refused.value)
    assert not (classroom.folder / "students.csv").exists()


def test_a_roster_that_is_not_utf_8_says_what_to_do(classroom, tmp_path):
    file = tmp_path / "class.csv"
    file.write_bytes("id,name\n1,Zoë\n".encode("latin-1"))
    with pytest.raises(CourseError, match="CSV UTF-8"):
        keep_roster(file, classroom.folder)


def test_semicolons_and_other_column_names_are_read_and_the_former_roster_is_kept(
    classroom, tmp_path
):
    classroom.write("students.csv", ROSTER)
    file = tmp_path / "list.csv"
    file.write_text("\ufeffStudent ID;First name;Last name;Phone\r\ns7;Ada;Lee;1\r\n", "utf-8")
    keep_roster(file, classroom.folder)
    course = ClassBook.read(classroom.folder)
    assert [(one.id, one.name) for one in course.roster.people] == [("s7", "Ada Lee")]
    assert course.remarks() == ["students.csv: these columns mean nothing here: Phone"]
    assert (classroom.folder / "students.before.csv").read_text() == ROSTER


def test_names_stand_as_in_a_list_of_people():
    people = ["Adams, Eve", "al-Amin, Nour", "Öz, Cem", "Park, Ana", "Zorn, Li"]
    assert sorted(set(people), key=names.in_order) == people
