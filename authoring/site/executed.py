"""A page of the course together with what it showed when it ran. Pure: no file is read here.

The page is the built notebook, with the blanks of its exercises; what ran may be the script with
its proofs and its solutions. So only outputs are taken from the run.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator

from nbformat import NotebookNode
from nbformat.v4 import new_output

from authoring.untidy import is_proof
from kafkalab.notebook import choice, prediction

ASKED = re.compile(r"^(?P<name>\w+) = (?:Prediction|Choice)\(", re.MULTILINE)
UNASKED = re.compile(rf"(?:{prediction.UNASKED}|{choice.UNASKED}) ".replace(".", r"\."))
WIDGET = "application/vnd.jupyter.widget-view+json"


def together(page: NotebookNode, ran: NotebookNode) -> NotebookNode | None:
    """The page with outputs; None where the run failed, or was one of another version."""
    cells = [cell for cell in page.cells if cell.cell_type == "code"]
    executed = [cell for cell in ran.cells if cell.cell_type == "code" and not is_proof(cell)]
    if len(cells) != len(executed) or any(map(_is_broken, ran.cells)):
        return None
    shown = copy.deepcopy(page)
    targets = [cell for cell in shown.cells if cell.cell_type == "code"]
    for cell, other in zip(targets, executed, strict=True):
        if is_exercise(cell):
            continue  # what ran is a solution, and the page has a blank
        if cell.source != other.source:
            return None
        cell.execution_count = other.execution_count
        cell.outputs = [_for_a_stranger(output) for output in other.outputs]
    _add_answers(targets)
    return shown


def is_exercise(cell: NotebookNode) -> bool:
    """Whether the cell has a blank for the reader."""
    return "exercise" in cell.metadata.get("tags", [])


def _is_broken(cell: NotebookNode) -> bool:
    """Whether it was not run to its end."""
    if cell.cell_type != "code":
        return False
    failed = any(output.output_type == "error" for output in cell.outputs)
    return failed or cell.execution_count is None


def _for_a_stranger(output: NotebookNode) -> NotebookNode:
    """An output without a widget, which lives in a kernel, and without "You did not predict"."""
    shown = copy.deepcopy(output)
    data = shown.get("data", {})
    data.pop(WIDGET, None)
    for kind in ("text/markdown", "text/plain"):
        if kind in data:
            data[kind] = UNASKED.sub("", data[kind])
    if shown.output_type == "stream":
        shown.text = UNASKED.sub("", shown.text)
    return shown


def _add_answers(cells: list[NotebookNode]) -> None:
    """Below each question, folded, what the run answered."""
    for place, cell in enumerate(cells):
        for asked in ASKED.finditer(cell.source):
            call = f"{asked['name']}.against("
            answering = (other for other in cells[place + 1 :] if call in other.source)
            answers = [said for other in answering for said in _sentences(other)]
            if answers:
                words = f"<details><summary>What this run answered</summary>\n\n{answers[0]}\n\n"
                data = {"text/markdown": f"{words}</details>"}
                cell.outputs.append(new_output("display_data", data))


def _sentences(cell: NotebookNode) -> Iterator[str]:
    """What the cell says in words: its last value before what it prints."""
    for output in reversed(cell.outputs):
        if "text/markdown" in output.get("data", {}):
            yield output.data["text/markdown"]
    for output in cell.outputs:
        if output.output_type == "stream":
            yield from (line for line in output.text.splitlines() if "Measured: " in line)
