from authoring import outline, percent

PAGE = """# Outline

| id | requirement | plan | shown in |
|---|---|---|---|
| A1 | one thing | 00 | planned |
| A2 | another | 01, lab 01 | 05_gone |
| B307 | a third | tests | tests/lessons/test_structure.py::test_x |
"""


def script(name: str, *tags: str):
    marks = ", ".join(f'"{tag}"' for tag in tags)
    return percent.read(f"# %% tags=[{marks}]\nassert True\n", f"lessons/{name}.py")


def test_rows_are_read_with_their_line() -> None:
    first, second, third = outline.rows(PAGE)
    assert (first.id, first.what, first.where, first.shown) == ("A1", "one thing", "00", ())
    assert second.shown == ("05_gone",)
    assert (third.shown, third.line) == (("tests/lessons/test_structure.py::test_x",), 7)


def test_the_last_column_comes_from_the_tags() -> None:
    scripts = [script("00_start", "A1", "parameters"), script("01_broker", "A1", "B307")]
    filled = outline.fill(PAGE, scripts)
    assert "| A1 | one thing | 00 | 00_start, 01_broker |" in filled
    assert "| A2 | another | 01, lab 01 | planned |" in filled
    assert "| tests | 01_broker, tests/lessons/test_structure.py::test_x |" in filled
    assert outline.fill(filled, scripts) == filled
    assert filled.splitlines()[:4] == PAGE.splitlines()[:4]


def test_tags_that_are_no_requirement_do_not_count() -> None:
    assert outline.tags([script("00_start", "parameters", "prediction", "A1")]) == {
        "A1": ["00_start"]
    }
