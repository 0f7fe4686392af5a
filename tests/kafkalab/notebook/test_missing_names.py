"""A cell that is run before the one that it needs says which one that is."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from commands import lab
from kafkalab.notebook import page
from kafkalab.notebook.missing_names import cells_of, defining, names_of

CELLS = [
    new_markdown_cell("# 00 Start\n\nA question?"),
    new_code_cell("import kafkalab\nfrom kafkalab import CourseError"),
    new_markdown_cell("## Idea: a list\n\nWords."),
    new_code_cell("# the list\nrides = [1, 2]\n\ndef longest():\n    return max(rides)"),
    new_code_cell("%matplotlib inline\nrides = [3, 4]"),
    new_code_cell("total = sum(rides)"),
    new_code_cell("longest()"),
    new_code_cell("sum(ridez)"),
    new_code_cell("later = 1"),
    new_code_cell("def inner():\n    if False:\n        total = 1\n    return total\ninner()"),
    new_code_cell("import json\njson.loads(rides)"),
]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a = b.c = 1\nd: int = 2\nfor e in []: f = 3", {"a", "d", "e", "f"}),
        ("import os.path, json as j\nfrom kafka import K as producer", {"os", "j", "producer"}),
        ("with open(x) as y:\n    z, *w = y\nif (v := 1): pass", {"y", "z", "w", "v"}),
        ("def f(a):\n    b = 1\nclass G:\n    c = 2\n[d for d in e]", {"f", "G"}),
        ("%matplotlib inline\na = 1", {"a"}),
        ("b = !ls", {"b"}),
        ("is no Python", set()),
    ],
)
def test_what_a_cell_gives_a_value(source: str, names: set[str]) -> None:
    assert names_of(source) == names


def test_only_cells_above_count(tmp_path: Path) -> None:
    file = tmp_path / "page.ipynb"
    nbformat.write(new_notebook(cells=CELLS), file)
    cells = cells_of(file)

    assert defining("rides", cells, CELLS[3]["id"], "") is None
    assert defining("rides", cells, CELLS[5]["id"], "").source == CELLS[4]["source"]
    assert defining("rides", cells, "", "total = sum(rides)\n").source == CELLS[4]["source"]
    assert defining("later", cells, CELLS[7]["id"], "") is None
    assert defining("later", cells, "", "a cell that is not saved yet").source == "later = 1"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, list]]:
    """What each cell says in a kernel where of the cells that define something only one has run."""
    folder = tmp_path_factory.mktemp("page")
    notebook = new_notebook(cells=CELLS)
    file = folder / "00_start.ipynb"
    nbformat.write(notebook, file)
    client = NotebookClient(notebook, kernel_name="python3", allow_errors=True, timeout=60)
    with client.setup_kernel(env={**os.environ, page.SESSION: str(file)}):
        outputs = {}
        for index in (1, 5, 7, 9, 3, 6, 10):
            outputs[index] = client.execute_cell(notebook.cells[index], index).outputs
        client.execute_cell(new_code_cell("del rides"), 4)
        outputs[6] = client.execute_cell(notebook.cells[6], 6).outputs
        yield outputs


@pytest.mark.process
def test_a_name_of_an_earlier_cell_is_followed_by_that_cell(said: dict[int, list]) -> None:
    (error,) = said[5]

    assert (error.ename, error.evalue) == ("NameError", "name 'rides' is not defined")
    *usual, last = error.traceback
    assert "Traceback" in usual[1]
    assert "name 'rides' is not defined" in usual[-1]
    assert last.rstrip() == (
        'rides comes from an earlier cell (under "Idea: a list", it begins with: rides = [3, 4]); '
        "run the cells above this one first (Run > Run All Above Selected Cell)."
    )


@pytest.mark.process
def test_a_name_that_a_function_of_the_page_needs_counts_too(said: dict[int, list]) -> None:
    assert "rides comes from an earlier cell" in said[6][0].traceback[-1]


@pytest.mark.process
def test_a_kernel_of_course_lab_helps_before_the_course_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_PATH", str(lab.SETTINGS))
    lab.check_kernel()
    notebook = new_notebook(cells=CELLS)
    file = tmp_path / "00_start.ipynb"
    nbformat.write(notebook, file)

    client = NotebookClient(notebook, kernel_name="python3", allow_errors=True, timeout=60)
    with client.setup_kernel(env={**os.environ, page.SESSION: str(file)}):
        (error,) = client.execute_cell(notebook.cells[5], 5).outputs

    assert "rides comes from an earlier cell" in error.traceback[-1]


def test_the_kernel_of_course_lab_differs_from_the_installed_one_in_nothing_else() -> None:
    ours = json.loads((lab.SETTINGS / "kernels" / "python3" / "kernel.json").read_text("utf-8"))
    installed = KernelSpecManager(kernel_dirs=[f"{sys.prefix}/share/jupyter/kernels"])

    assert ours["argv"].pop().endswith("=kafkalab.notebook.missing_names")
    spec = installed.get_kernel_spec("python3").to_dict()
    assert Path(spec["argv"].pop(0)).name.startswith("python")
    assert ours["argv"].pop(0) == "python"
    assert {name: spec[name] for name in ours} == ours


@pytest.mark.process
@pytest.mark.parametrize(
    ("cell", "kind"), [(7, "NameError"), (9, "UnboundLocalError"), (10, "TypeError")]
)
def test_every_other_error_is_as_it_was(said: dict[int, list], cell: int, kind: str) -> None:
    (error,) = said[cell]

    assert error.ename == kind
    assert not any("earlier cell" in line for line in error.traceback)
