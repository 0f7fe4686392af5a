"""Pictures of the README: out of executed pages, with their text alternative."""

from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from authoring.marked import marks
from authoring.pictures import Chart, hang, take
from kafkalab.draw.picture import picture
from kafkalab.errors import CourseError

LOSS = Chart("loss", "durability", "durability.loss(", "What was lost.")


@pytest.fixture
def executed(tmp_path: Path) -> Path:
    _, ax = plt.subplots()
    shown = picture(ax, 'Of 100 records 100 were "safe" & lost.')
    outputs = [
        new_output("stream", text="kept"),
        new_output("display_data", {"text/html": shown._repr_html_()}),
    ]
    cells = [
        new_code_cell("from kafkalab.lessons import durability"),
        new_code_cell("ax = durability.loss(verdict)\ncharts.show(ax, text)", outputs=outputs),
    ]
    page = tmp_path / "08_durability.ipynb"
    nbformat.write(new_notebook(cells=cells), page)
    return page


def test_a_picture_hangs_where_the_readme_has_its_marks(executed: Path, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("before\n{}\nold\n{}\nafter\n".format(*marks("pictures")), "utf-8")

    hang(tmp_path, [take(LOSS, executed)], [readme])

    assert (tmp_path / "lessons/pictures/loss.png").read_bytes().startswith(b"\x89PNG")
    text = readme.read_text("utf-8")
    alternative = 'Of 100 records 100 were "safe" & lost.'
    assert f"![{alternative}](lessons/pictures/loss.png)\n\n*What was lost.*" in text
    assert text.startswith("before\n")
    assert "old" not in text


def test_a_page_that_does_not_draw_it_is_named(executed: Path) -> None:
    other = Chart("leaders", "durability", "diagrams.leaders(", "Who leads.")
    with pytest.raises(CourseError, match="08_durability has no picture"):
        take(other, executed)
