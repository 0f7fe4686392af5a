from authoring import outline, percent
from authoring.percent import Script

PAGE = """# Outline

| id | requirement | plan | shown in |
|---|---|---|---|
| A1 | one thing | start | planned |
| A2 | another | reading, lab01 | gone |
| B3 | a third | tests | tests/lessons/test_structure.py::test_x |
| B4 | much | start | partly: start, tests/x.py::test_y; missing: the rest (two things) |
| B5 | more | start | planned; missing: all but one |
"""


def script(path: str, *tags: str) -> Script:
    marks = ", ".join(f'"{tag}"' for tag in tags)
    return percent.read(f"# %% tags=[{marks}]\nassert tags\n", path)


START = "lessons/00_start.py"


def test_rows_are_read_with_their_line() -> None:
    first, second, third, fourth, fifth = outline.rows(PAGE)
    assert (first.id, first.what, first.where, first.shown) == ("A1", "one thing", "start", ())
    assert second.shown == ("gone",)
    assert (third.shown, third.line) == (("tests/lessons/test_structure.py::test_x",), 7)
    assert first.missing == third.missing == ""
    assert fourth.shown == ("start", "tests/x.py::test_y")
    assert fourth.missing == "the rest (two things)"
    assert (fifth.shown, fifth.missing) == ((), "all but one")


def test_the_last_column_comes_from_the_tags() -> None:
    scripts = [script(START, "A1", "proof"), script("lessons/01_single_broker.py", "A1", "B3")]
    filled = outline.fill(PAGE, scripts)
    assert "| A1 | one thing | start | start, single_broker |" in filled
    assert "| A2 | another | reading, lab01 | planned |" in filled
    assert "| tests | single_broker, tests/lessons/test_structure.py::test_x |" in filled
    assert outline.fill(filled, scripts) == filled
    assert filled.splitlines()[:4] == PAGE.splitlines()[:4]


def test_a_lab_stands_there_with_its_number() -> None:
    scripts = [script("grading/labs/04_failover/lab.py", "A1")]
    assert "| A1 | one thing | start | lab04 |" in outline.fill(PAGE, scripts)


def test_what_is_missing_stays_until_somebody_takes_it_away() -> None:
    scripts = [script(START, "B4", "B5")]
    filled = outline.fill(PAGE, scripts)
    assert "| partly: start, tests/x.py::test_y; missing: the rest (two things) |" in filled
    assert "| partly: start; missing: all but one |" in filled
    assert outline.fill(filled, []).splitlines()[-1] == PAGE.splitlines()[-1]
    whole = filled.replace("partly: start; missing: all but one", "start")
    assert outline.fill(whole, scripts) == whole


def test_tags_that_are_no_requirement_do_not_count() -> None:
    assert outline.tags([script(START, "parameters", "prediction", "A1")]) == {"A1": ["start"]}
