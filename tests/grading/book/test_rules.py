"""Deadlines, late ones and attempts: a rule is applied when marks are told, and never stored."""

import pytest

from grading.book.classbook import ClassBook
from grading.judge.outcome import Outcome
from grading.keep import report
from kafkalab.errors import CourseError
from tests.grading.classroom import table_of

DUE = 'timezone = "Europe/Berlin"\n[labs.lab90]\ndue = 2026-11-27T18:00:00\n'


def points(classroom) -> dict[str, float | None]:
    return {mark.name: mark.points for mark in the_class(classroom).marks}


def the_class(classroom):
    return ClassBook.read(classroom.folder).lab(classroom.lab.name)


@pytest.mark.parametrize(
    ("late", "handed_in", "expected"),
    [
        ("percent_per_day = 10", "2026-11-27T18:00:00", 8.0),
        ("percent_per_day = 10", "2026-11-27T18:00:01", 7.2),
        ("percent_per_day = 10", "2026-11-28T18:00:00", 7.2),
        ("percent_per_day = 10", "2026-11-28T18:00:01", 6.4),
        ('percent_per_day = 10\ngrace = "15 min"', "2026-11-27T18:15:00", 8.0),
        ('percent_per_day = 10\ngrace = "15 min"', "2026-11-27T18:15:01", 7.2),
        ("percent_per_hour = 5", "2026-11-27T20:30:00", 6.8),
        ("percent_per_day = 10\nat_most = 25", "2026-12-20T18:00:00", 6.0),
        ("percent_per_day = 50", "2026-12-20T18:00:00", 0.0),
        ('percent_per_day = 10\nuntil = "2 days"', "2026-11-29T18:00:00", 6.4),
        ('percent_per_day = 10\nuntil = "2 days"', "2026-11-29T18:00:01", 0.0),
        ('steps = [{ after = "0 min", percent = 10 }, { after = "1 day", percent = 40 }]',
         "2026-11-28T18:00:00", 7.2),
        ('steps = [{ after = "0 min", percent = 10 }, { after = "1 day", percent = 40 }]',
         "2026-11-28T18:00:01", 4.8),
        ('steps = [{ after = "2 h", percent = 10 }]', "2026-11-27T19:00:00", 8.0),
        ("", "2026-12-20T18:00:00", 8.0),
    ],
)  # fmt: skip
def test_what_it_costs_to_be_late(classroom, late, handed_in, expected):
    classroom.hand_in("Ada Lee", "7", handed_in=handed_in)
    classroom.write("class.toml", f'timezone = "Europe/Berlin"\n[late]\n{late}\n{DUE[27:]}')
    assert points(classroom) == {"Ada Lee": expected}


def test_a_penalty_is_told_with_its_reason_and_goes_when_the_deadline_moves(classroom, tiny):
    classroom.hand_in("Ada Lee", "7", failed=("doubled",), handed_in="2026-11-28T20:00:00+01:00")
    kept = [(f, f.read_bytes()) for f in classroom.store.folder.rglob("attempts/*/*")]
    classroom.write("class.toml", DUE + "late = { percent_per_day = 10 }\n")
    report.write(tiny, classroom.store)
    words = "Handed in 1 day 2 h late (due 2026-11-27 18:00 CET): 20 % less, 4.8 points and not 6"
    (row,) = table_of((classroom.store.folder / "class.csv").read_text("utf-8"))
    assert (row["points"], row["task 1"]) == ("4.8", "0")
    assert words in row["notes"]
    (page,) = (classroom.store.folder / "students").iterdir()
    assert words in page.read_text("utf-8")
    assert "4.8 of 8 points" in page.read_text("utf-8")
    assert "4.8" in (classroom.store.folder / "class.html").read_text("utf-8")

    classroom.write("class.toml", DUE.replace("27T", "30T"))
    report.write(tiny, classroom.store)
    assert "6 of 8 points" in page.read_text("utf-8")
    assert [(f, f.read_bytes()) for f, _ in kept] == kept, "evidence and records stay as they are"


@pytest.mark.parametrize(
    ("handed_in", "words"),
    [
        ("2026-11-27T18:00:01", "1 min late"),
        ("2026-11-27T20:30:00", "2 h 30 min late"),
        ("2026-11-28T18:00:20", "1 day 1 min late"),
        ("2026-11-29T21:45:00", "2 days 3 h late"),
    ],
)
def test_how_late_it_was_is_said_so_that_the_days_can_be_counted(classroom, handed_in, words):
    classroom.write("class.toml", DUE + "late = { percent_per_day = 10 }\n")
    classroom.hand_in("Ada Lee", "7", handed_in=handed_in)
    (mark,) = the_class(classroom).marks
    assert f"Handed in {words} (due" in mark.words[0]


def test_an_hour_is_an_hour_when_the_clocks_change(classroom):
    rule = 'timezone = "Europe/Berlin"\n[labs.1]\ndue = {}\nlate = {{ percent_per_hour = 1 }}\n'
    classroom.write("class.toml", rule.format("2026-10-24T18:00:00").replace("labs.1", "labs.90"))
    classroom.hand_in("Ada Lee", "7", handed_in="2026-10-25T18:00:00")
    assert points(classroom) == {"Ada Lee": 6.0}, "25 hours"
    # Of the hour that comes twice the later one is meant, and UTC needs no guess.
    classroom.write("class.toml", rule.format("2026-10-25T02:30:00").replace("labs.1", "labs.90"))
    classroom.hand_in("Ben Ohm", "8", text="x = 2", handed_in="2026-10-25T01:30:00+00:00")
    assert points(classroom)["Ben Ohm"] == 8.0


def test_extra_time_moves_the_deadline_of_one_person(classroom):
    classroom.write("students.csv", "id,name,extra time\n7,Ada Lee,1 day\n8,Ben Ohm,\n")
    classroom.write("class.toml", DUE + "late = { percent_per_day = 10 }\n")
    classroom.hand_in("Ada Lee", "7", handed_in="2026-11-28T17:00:00")
    classroom.hand_in("Ben Ohm", "8", handed_in="2026-11-28T17:00:00", text="x = 2")
    assert points(classroom) == {"Ada Lee": 8.0, "Ben Ohm": 7.2}


def test_a_time_comes_from_moodles_worksheet_or_from_the_roster(classroom):
    classroom.write(
        "class.toml", DUE + 'worksheet = "sheet.csv"\nlate = { percent_per_day = 10 }\n'
    )
    classroom.write(
        "sheet.csv",
        "Identifier,Full name,Grade,Last modified (submission),Last modified (grade)\n"
        'Participant 41000,Ada Lee,,"Saturday, 28 November 2026, 9:15 AM",-\n'
        'Participant 41001,Ben Ohm,,"Friday, 27 November 2026, 5:15 PM",-\n'
        "Participant 41002,Cem Ay,,-,-\n",
    )
    classroom.write("students.csv", "id,name,lab90\ns1,Ada Lee,\ns3,Cem Ay,2026-11-29 17:00\n")
    for at, name in enumerate(("Ada Lee", "Ben Ohm", "Cem Ay")):
        classroom.hand_in(name, str(41000 + at), text=f"x = {at}")
    assert points(classroom) == {"Ada Lee": 7.2, "Ben Ohm": 8.0, "Cem Ay": 6.4}


@pytest.mark.parametrize(
    ("zone", "handed_in", "why"),
    [
        ('timezone = "Europe/Berlin"\n', "", "nobody says when they were handed in: Ada Lee"),
        ("", "2026-12-20T18:00:00", "names no zone; write timezone"),
        ('timezone = "Europe/Berlin"\n', "last week", '"last week" is no time'),
    ],
)
def test_an_unknown_time_is_listed_and_costs_nothing(classroom, zone, handed_in, why):
    rule = "[labs.lab90]\ndue = 2026-11-27T18:00:00+01:00\nlate = { percent_per_day = 100 }\n"
    classroom.write("class.toml", zone + rule)
    classroom.hand_in("Ada Lee", "7", handed_in=handed_in)
    assert points(classroom) == {"Ada Lee": 8.0}
    (said,) = the_class(classroom).problems()
    assert why in said
    assert said.startswith("counted as in time, because ")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("", 6.0),
        ('counts = "last"', 6.0),
        ('counts = "best"', 8.0),
        ('counts = "first"', 4.0),
        ("attempts = 2", 8.0),
        ('attempts = 1\ncounts = "best"', 4.0),
    ],
)
@pytest.mark.parametrize("have_times", [False, True])
def test_which_of_several_attempts_counts(classroom, rule, expected, have_times):
    days = [f"2026-11-2{day}T12:00:00" if have_times else "" for day in (1, 2, 3)]
    classroom.hand_in("Ada Lee", "7", ("doubled", "name_said"), text="x = 1", handed_in=days[0])
    classroom.hand_in("Ada Lee", "7", text="x = 2", handed_in=days[1])
    classroom.hand_in("Ada Lee", "7", ("doubled",), text="x = 3", handed_in=days[2])
    classroom.write("class.toml", f"[labs.lab90]\n{rule}\n")
    assert points(classroom) == {"Ada Lee": expected}


def test_the_best_is_the_best_after_the_late_rule_and_what_cannot_be_read_costs_no_attempt(
    classroom,
):
    classroom.write(
        "class.toml",
        DUE + 'counts = "best"\nattempts = 2\nlate = { percent_per_day = 50 }\n',
    )
    classroom.hand_in("Ada Lee", "7", refusal=Outcome.UNREADABLE, handed_in="2026-11-25T12:00:00")
    classroom.hand_in("Ada Lee", "7", ("doubled",), text="x = 1", handed_in="2026-11-26T12:00:00")
    classroom.hand_in("Ada Lee", "7", text="x = 2", handed_in="2026-11-28T12:00:00")
    assert points(classroom) == {"Ada Lee": 6.0}


def test_what_could_not_be_read_has_a_row_with_its_reason_and_no_number(classroom, tiny):
    classroom.hand_in("Ada Lee", "7")
    classroom.hand_in("Ben Ohm", "8", refusal=Outcome.UNREADABLE)
    classroom.hand_in("Cem Ay", "9", refusal=Outcome.WRONG_LAB)
    classroom.hand_in("Dora", "10", refusal=Outcome.INFRA)
    report.write(tiny, classroom.store)
    rows = table_of((classroom.store.folder / "class.csv").read_text("utf-8"))
    assert [row["points"] for row in rows] == ["8", "unreadable", "wrong lab", "?"]
    assert rows[1]["says"] == "no readable notebook: because it is empty"
    page = (classroom.store.folder / "class.html").read_text("utf-8")
    assert "<b>unreadable</b>" in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("due = ", "It is not TOML"),
        ("deadline = 1", "it has deadline; it may have labs, late, timezone"),
        ('timezone = "Berlin"', 'timezone "Berlin" is not known'),
        ('timezone = "../etc/passwd"', "is not known"),
        ("timezone = 1", "timezone \"1\" is not known"),
        ("[labs.first]", "[labs.first] names no lab"),
        ("[labs.lab01]\n[labs.1]", "there are two rules for lab 01"),
        ("[labs.lab01]\ndue = 2026-11-27", "due of [labs.lab01] needs a day and a time"),
        ("[labs.lab01]\ndue = 2026-11-27T18:00:00", "due of [labs.lab01] has no zone"),
        ('[labs.lab01]\ncounts = "worst"', "is none of last, best, first"),
        ("[labs.lab01]\nattempts = 0", "attempts of [labs.lab01] is no whole number above 0"),
        ("[labs.lab01]\nattempts = true", "is no whole number"),
        ("[labs.lab01]\nlate = { percent_per_day = 10 }", "and nothing is due"),
        ("[late]\npercent_per_day = 110", "110 in [late] is no number from 0 to 100"),
        ('[late]\npercent_per_day = "10"', "'10' in [late] is no number"),
        ("[late]\npercent_per_week = 10", "[late] has percent_per_week; it may have"),
        ("[late]\npercent_per_day = 1\npercent_per_hour = 1", "has more than one of"),
        ("[late]\ngrace = 15", "grace in [late] is no text"),
        ('[late]\ngrace = "a while"', '"a while" is no length of time'),
        ("[late]\nsteps = [1]", "a step in [late] is no table"),
        ('[late]\nsteps = [{ after = "1 day" }]', "needs after and percent"),
        ('[late]\nsteps = [{ after = "2 h", percent = 9 }, { after = "1 h", percent = 10 }]',
         "do not go up"),
        ("late = 10", "[late] is no table"),
        ("labs = 1", "[labs] is no table"),
        ('[labs.lab01]\nworksheet = "not there.csv"', "cannot be opened"),
    ],
)  # fmt: skip
def test_a_bad_rule_is_refused_whole_with_a_sentence(classroom, text, said):
    classroom.write("class.toml", text)
    with pytest.raises(CourseError) as refused:
        ClassBook.read(classroom.folder)
    assert said in str(refused.value)


def test_a_table_that_is_no_worksheet_is_refused(classroom):
    classroom.write("class.toml", '[labs.lab90]\nworksheet = "a.csv"\n')
    classroom.write("a.csv", "Kennung,Name\n1,Ada\n")
    with pytest.raises(CourseError, match="no worksheet"):
        ClassBook.read(classroom.folder)


def test_a_rule_for_a_lab_that_is_not_there_is_told(classroom):
    classroom.write("class.toml", "[labs.lab77]\nattempts = 1\n")
    assert ClassBook.read(classroom.folder).remarks() == ["class.toml: there is no lab 77"]
