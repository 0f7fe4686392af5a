import re
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import pytest
from jupytext.config import load_jupytext_configuration_file
from nbformat import NotebookNode, from_dict

from authoring import notebooks, percent
from authoring.build import Course
from authoring.percent import BadScript

COURSE = Course()
TEMPLATE = Course(COURSE.root / "authoring" / "template")
SCRIPTS = [*COURSE.sources(), *TEMPLATE.sources()]
LESSON = TEMPLATE.lessons()[0].read_text("utf-8")
LAB = TEMPLATE.masters()[0].read_text("utf-8")
PATH = "grading/labs/00_title/lab.py"


def test_the_same_text_gives_the_same_bytes() -> None:
    texts = {notebooks.to_text(notebooks.student_notebook(LAB, PATH, "nav")) for _ in range(3)}
    assert len(texts) == 1
    text = texts.pop()
    assert text.endswith("}\n")
    assert "\r" not in text
    assert '\n "cells": [' in text  # indented by 1
    nbformat.validate(nbformat.reads(text, 4))


def test_nothing_of_a_run_or_a_machine_is_in_the_file() -> None:
    notebook = notebooks.student_notebook(LAB, PATH)
    assert notebook.nbformat == 4
    assert notebook.nbformat_minor == 5
    assert notebook.metadata == {
        "kernelspec": notebooks.KERNEL,
        "language_info": {"name": "python"},
        "kafka_course": {
            "generated": "Do not edit: change the source, then run ./course build.",
            "source": PATH,
        },
    }
    for cell in notebook.cells:
        assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)


def test_questions_have_their_tag_as_id_and_twins_are_counted() -> None:
    text = LAB + "\n# %%\nlab.score()\n"
    ids = [cell.id for cell in notebooks.student_notebook(text, PATH).cells]
    assert {"task-1", "check-1", "task-2", "check-2"} <= set(ids)
    assert ids[-1] == f"{ids[-2]}-2"
    assert len(set(ids)) == len(ids)


def test_a_changed_cell_changes_its_own_id_only() -> None:
    before = notebooks.student_notebook(LAB, PATH).cells
    after = notebooks.student_notebook(LAB.replace("# ## What Spark sees", "# ## Spark"), PATH)
    changed = [a.source for a, b in zip(after.cells, before, strict=True) if a.id != b.id]
    assert len(changed) == 1
    assert changed[0].startswith("## Spark")


def test_the_two_variants_differ_in_the_task_cells_alone() -> None:
    student = notebooks.student_notebook(LAB, PATH).cells
    solved = notebooks.solution_notebook(LAB, PATH).cells
    different = [a.id for a, b in zip(student, solved, strict=True) if a != b]
    assert different == ["task-1", "task-2"]


def without_proofs(text: str) -> str:
    return re.sub(r'# %% tags=\["proof".*?(?=# %%)', "", text, flags=re.DOTALL)


def test_proofs_are_in_the_script_and_not_on_the_page() -> None:
    page = notebooks.student_notebook(LESSON, "lessons/00_title.py").cells
    everything = notebooks.solution_notebook(LESSON, "lessons/00_title.py").cells
    proofs = [cell for cell in everything if "proof" in cell.metadata.get("tags", [])]
    assert len(proofs) == 3
    left = [cell for cell in everything if cell not in proofs]
    different = [cell for cell, other in zip(left, page, strict=True) if cell != other]
    assert ["exercise" in cell.metadata.tags for cell in different] == [True]
    assert without_proofs(LESSON) != LESSON


def test_a_proof_beside_a_cell_changes_the_id_of_no_cell() -> None:
    """Not even one that is word for word like a cell of the page: it is not its twin."""
    proof = '# %% tags=["proof"]\nassert records, records\n\n'
    visible = "# %%\nassert records, records\n\n"
    bare = LESSON.replace("# %%\ncluster.close", f"{visible}# %%\ncluster.close")
    proved = bare.replace("# %% [markdown]\n# ## Who", f"{proof}# %% [markdown]\n# ## Who")
    page = notebooks.student_notebook(bare, "lessons/00_title.py").cells
    assert notebooks.student_notebook(proved, "lessons/00_title.py").cells == page
    everything = notebooks.solution_notebook(proved, "lessons/00_title.py").cells
    left = [cell for cell in everything if cell.metadata.get("tags") != ["proof"]]
    different = [cell for cell, other in zip(left, page, strict=True) if cell != other]
    assert [cell.metadata.tags for cell in different] == [["exercise"]]
    assert len({cell.id for cell in everything}) == len(everything)


def test_every_problem_is_reported() -> None:
    bad = LAB.replace("# END SOLUTION", "").replace("# # Lab 00", "# Lab 00")
    with pytest.raises(BadScript) as caught:
        notebooks.student_notebook(bad, PATH)
    assert len(caught.value.problems) == 3


@cache
def opened(path: Path) -> NotebookNode:
    """The script as jupytext reads it, for all tests that look at it."""
    return jupytext.reads(path.read_text("utf-8"), fmt="py:percent")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.parent.name + path.stem)
def test_jupytext_reads_the_same_cells(path) -> None:
    """An author may open a script as a notebook in JupyterLab with jupytext."""
    text = path.read_text("utf-8")
    ours = [
        (cell.kind, list(cell.tags), re.sub(r"[ ]+$", "", cell.text, flags=re.MULTILINE))
        for cell in percent.read(text, path.name).cells
    ]
    theirs = [
        (cell.cell_type, cell.metadata.get("tags", []), cell.source) for cell in opened(path).cells
    ]
    assert ours == theirs


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.parent.name + path.stem)
def test_saving_from_jupyterlab_changes_nothing_else(path) -> None:
    settings = load_jupytext_configuration_file(str(COURSE.root / "pyproject.toml"))
    text = path.read_text("utf-8")
    # JupyterLab writes the kernel in
    saved = opened(path) | {"metadata": opened(path).metadata | {"kernelspec": notebooks.KERNEL}}
    assert jupytext.writes(from_dict(saved), fmt="py:percent", config=settings) == text
