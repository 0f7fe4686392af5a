"""What a person would call the process that owns a cluster."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from kafkalab.notebook import page
from kafkalab.places import repository

ASK = "from kafkalab.notebook import page\nprint(page.owner())"


def kernel_says(folder: Path, *cells: str, **variables: str) -> str:
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    client = NotebookClient(notebook, kernel_name="python3", timeout=60)
    client.execute(env={**os.environ, **variables}, cwd=str(folder))
    return notebook.cells[-1].outputs[0].text.strip()


def program_says(*command: str, text: str = "") -> str:
    asked = subprocess.run(
        command, input=text, capture_output=True, text=True, cwd=repository(), timeout=60
    )
    return asked.stdout.strip()


@pytest.mark.slow
def test_a_notebook_of_jupyterlab_and_one_of_vs_code(tmp_path: Path) -> None:
    for name in ("02_keys.ipynb", "03 mine.ipynb"):
        (tmp_path / name).touch()

    session = str(tmp_path / "02_keys.ipynb")
    of_vs_code = f"{page.VS_CODE} = {str(tmp_path / '03 mine.ipynb')!r}"
    assert kernel_says(tmp_path, ASK, **{page.SESSION: session}) == "02_keys.ipynb"
    assert kernel_says(tmp_path, of_vs_code, ASK) == "03 mine.ipynb"
    # It was renamed or removed since: no name is better than a wrong one.
    gone = str(tmp_path / "gone.ipynb")
    assert kernel_says(tmp_path, ASK, **{page.SESSION: gone}) == "a notebook"


@pytest.mark.slow
def test_a_notebook_that_papermill_runs(tmp_path: Path) -> None:
    asked, ran = tmp_path / "asked.ipynb", tmp_path / "ran.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(ASK)]), asked)
    command = [sys.executable, "-m", "papermill", "--kernel", "python3", "asked.ipynb", str(ran)]

    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)

    assert nbformat.read(ran, 4).cells[-1].outputs[0].text.strip() == "asked.ipynb"


def test_a_program(tmp_path: Path) -> None:
    program = tmp_path / "counts.py"
    program.write_text(ASK)

    assert program_says(sys.executable, str(program)) == "counts.py"
    assert program_says(sys.executable, "-c", ASK) == "python -c"
    assert program_says(sys.executable, text=ASK) == "Python in a terminal"
