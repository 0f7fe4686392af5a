import pytest
from hypothesis import given
from hypothesis import strategies as st

from authoring import percent


def problems(text: str) -> list[str]:
    return [str(problem) for problem in percent.read(text, "x.py").problems]


def test_cells_know_their_kind_tags_text_and_line() -> None:
    text = """# %% [markdown]
# # Title
#
# Text with `code`.

# %% tags=["parameters", "A7"]

a = 1
b = 2

"""
    title, parameters = percent.read(text, "x.py").cells
    assert (title.kind, title.text, title.line) == ("markdown", "# Title\n\nText with `code`.", 2)
    assert (parameters.kind, parameters.text, parameters.line) == ("code", "a = 1\nb = 2", 8)
    assert parameters.tags == ("parameters", "A7")


def test_await_on_the_top_level_is_python_in_a_notebook() -> None:
    assert not problems("# %%\nawait thing()\n")


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('"""A header."""\n# %%\na = 1\n', 1, "text before the first cell mark"),
        ("# %% set-up\na = 1\n", 1, "a cell mark that is not understood"),
        ("# %% [md]\n# a\n", 1, "a cell mark that is not understood"),
        ("# %%\n\n# %%\na = 1\n", 1, "an empty cell"),
        ("# %% [markdown]\n#\n", 1, "an empty cell"),
        ("# %% [markdown]\n# Prose.\nx = 1\n", 3, "does not begin with '# ': x = 1"),
        ("# %% [markdown]\n#Prose.\n", 2, "does not begin with '# ': #Prose."),
        ("# %%\na = 1\nb = (\n", 3, "not Python"),
        ("# %%\n%matplotlib inline\n", 2, "not Python"),
        ("# %% tags=[parameters]\na = 1\n", 1, "tags that are no list of names"),
        ("# %% tags=[1]\na = 1\n", 1, "tags that are no list of names"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, line: int, what: str) -> None:
    (problem,) = problems(text)
    assert problem.startswith(f"x.py:{line}: ")
    assert what in problem
    assert ";" in problem  # how to mend it


def test_all_mistakes_are_found_at_once() -> None:
    assert len(problems("# %%\n\n# %% [markdown]\nx\n# y\n# %%\nb = (\n")) == 3


CELLS = st.lists(
    st.tuples(
        st.sampled_from(["markdown", "code"]),
        st.lists(st.sampled_from(["word", "", "two words", "# heading", "ä → ö"]), min_size=1),
    ).filter(lambda cell: any(cell[1])),
    min_size=1,
)


@given(CELLS)
def test_what_is_written_is_read(cells: list[tuple[str, list[str]]]) -> None:
    text, expected = "", []
    for kind, lines in cells:
        mark = "# %% [markdown]" if kind == "markdown" else "# %%"
        body = lines if kind == "markdown" else [f"{line!r}" if line else "" for line in lines]
        prefix = "# " if kind == "markdown" else ""
        text += mark + "\n" + "".join(f"{prefix}{line}".rstrip() + "\n" for line in body) + "\n"
        whole = "\n".join(body)
        expected.append((kind, whole.rstrip("\n") if kind == "markdown" else whole.strip("\n")))
    read = [(cell.kind, cell.text) for cell in percent.read(text, "x.py").cells]
    assert read == expected
