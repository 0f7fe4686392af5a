"""The solved notebook as other tools and systems write it: the same cells in another file."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output

from benchmarks.handins.solved import code_cells

MARK = re.compile(r"\A# Task \d+\n")


def written(notebook: NotebookNode) -> bytes:
    """The bytes of a file, as they come, valid or not."""
    return json.dumps(notebook, ensure_ascii=False, indent=1).encode()


def in_lines(notebook: NotebookNode) -> None:
    """The source as a list of lines, as files have it."""
    for cell in notebook.cells:
        cell.source = cell.source.splitlines(keepends=True)


def without_ids(notebook: NotebookNode, minor: int = 4) -> None:
    notebook.nbformat_minor = minor
    for cell in notebook.cells:
        cell.pop("id", None)


def vs_code(notebook: NotebookNode) -> bytes:
    """Ids of its own, and the language in every cell; its Python environment in the metadata."""
    for cell in notebook.cells:
        cell.id = uuid.uuid5(uuid.NAMESPACE_OID, cell.id).hex[:8]
        cell.metadata = {"vscode": {"languageId": "python"}} if cell.cell_type == "code" else {}
    notebook.metadata = {
        "kernelspec": {"display_name": ".venv", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "version": "3.11.7", "file_extension": ".py"},
    }
    in_lines(notebook)
    return written(notebook)


def colab(notebook: NotebookNode) -> bytes:
    """Format 4.0: ids in the metadata of cells, and nothing left of the course's own."""
    without_ids(notebook, minor=0)
    for number, cell in enumerate(notebook.cells):
        cell.metadata = {"id": f"x{number:011d}"}
        if cell.cell_type == "code":
            cell.metadata |= {"colab": {"base_uri": "https://localhost:8080/"}, "outputId": "0"}
    notebook.metadata = {
        "colab": {"provenance": [], "toc_visible": True},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    }
    in_lines(notebook)
    return written(notebook)


def deepnote(notebook: NotebookNode) -> bytes:
    """Ids and times in the metadata of cells, format 4.0."""
    without_ids(notebook, minor=0)
    for cell in notebook.cells:
        cell.metadata = {
            "cell_id": uuid.uuid5(uuid.NAMESPACE_OID, str(cell.source)).hex,
            "deepnote_cell_type": "code" if cell.cell_type == "code" else "markdown",
            "deepnote_to_be_reexecuted": False,
            "execution_millis": 12,
        }
    notebook.metadata = {"deepnote_notebook_id": "4f1a", "deepnote": {}, "orig_nbformat": 2}
    return written(notebook)


def kaggle(notebook: NotebookNode) -> bytes:
    """Times of runs and ids of its own in the metadata of cells."""
    without_ids(notebook)
    for cell in notebook.cells:
        cell.metadata = {"trusted": True, "_uuid": uuid.uuid5(uuid.NAMESPACE_OID, cell.source).hex}
        cell.metadata["execution"] = {"iopub.status.busy": "2026-11-01T10:00:00.000000Z"}
    notebook.metadata["kaggle"] = {"accelerator": "none", "dataSources": [], "isGpuEnabled": False}
    return written(notebook)


def classic(notebook: NotebookNode) -> bytes:
    """The classic Notebook: format 4.4, no ids, some of its own metadata."""
    without_ids(notebook)
    for cell in notebook.cells:
        cell.metadata |= {"collapsed": False, "scrolled": True, "slideshow": {"slide_type": "-"}}
    notebook.metadata["toc"] = {"base_numbering": 1, "toc_cell": False}
    notebook.metadata.pop("kafka_course", None)
    return written(notebook)


def windows(notebook: NotebookNode) -> bytes:
    """Line ends of another system in file and cells, and a byte order mark."""
    for cell in notebook.cells:
        cell.source = cell.source.replace("\n", "\r\n")
    return b"\xef\xbb\xbf" + written(notebook).replace(b"\n", b"\r\n")


def utf_16(notebook: NotebookNode) -> bytes:
    """Saved by an editor as what it calls Unicode."""
    return written(notebook).decode().encode("utf-16")


def run_before(notebook: NotebookNode) -> bytes:
    """With outputs, counts of runs and the state of widgets, as somebody saved it after work."""
    for number, cell in enumerate(code_cells(notebook), start=1):
        cell.execution_count = 7 * number
        text = "seen before\n" * 20
        cell.outputs = [
            new_output("stream", name="stdout", text=text),
            new_output("execute_result", {"text/plain": "7"}, execution_count=7 * number),
        ]
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    return written(notebook)


def through_a_script(notebook: NotebookNode) -> bytes:
    """Kept as a percent script, and made a notebook again: ids and the course's metadata go."""
    return _through(notebook, "py:percent")


def through_markdown(notebook: NotebookNode) -> bytes:
    """Kept as a page of Markdown, and made a notebook again."""
    return _through(notebook, "md")


def _through(notebook: NotebookNode, form: str) -> bytes:
    text = jupytext.writes(nbformat.from_dict(notebook), form)
    return written(jupytext.reads(text, form))


def marks_lost(notebook: NotebookNode) -> bytes:
    """The lines `# Task N` are gone, the ids are there."""
    for cell in notebook.cells:
        cell.source = MARK.sub("", cell.source)
    return written(notebook)


def marks_and_ids_lost(notebook: NotebookNode) -> bytes:
    """Nothing says which cell is which but what is in it."""
    for number, cell in enumerate(notebook.cells):
        cell.source = MARK.sub("", cell.source)
        cell.id = f"copy-{number}"
        cell.metadata = {}
    return written(notebook)


def marks_retyped(notebook: NotebookNode) -> bytes:
    """Marks as people type them, and new ids."""
    for number, cell in enumerate(notebook.cells):
        cell.source = re.sub(r"\A# Task (\d+)\n", r"#task \1: done\n", cell.source)
        cell.id = f"mine-{number}"
    return written(notebook)


def code_alone(notebook: NotebookNode) -> bytes:
    """Without any text between the cells."""
    notebook.cells = code_cells(notebook)
    return written(notebook)


FORMATS: tuple[Callable[[NotebookNode], bytes], ...] = (
    vs_code, colab, deepnote, kaggle, classic, windows, utf_16, run_before, through_a_script,
    through_markdown, marks_lost, marks_and_ids_lost, marks_retyped, code_alone,
)  # fmt: skip
