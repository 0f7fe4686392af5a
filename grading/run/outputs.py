"""Outputs of cells, cut to what a teacher may want to look at."""

from __future__ import annotations

import re
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

MOST_TEXT = 20_000  # characters of one output
MOST_PICTURE = 1_000_000
"""Characters, also of HTML: the pictures of the course are sent in it."""
MOST_OUTPUTS = 100
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
KEPT = ("text/plain", "text/html", "image/png", "image/jpeg")


def shown(thing: Any) -> NotebookNode:
    """What a cell shows that ends in this."""
    data = {"text/plain": repr(thing), "text/html": thing._repr_html_()}
    return new_output("display_data", data)


def capped(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Head and tail of long texts, pictures of sane size, and not more than a hundred outputs."""
    kept = [_capped(output) for output in outputs[:MOST_OUTPUTS]]
    if len(outputs) > MOST_OUTPUTS:
        text = f"… {len(outputs) - MOST_OUTPUTS} more outputs …"
        kept.append(NotebookNode(output_type="stream", name="stdout", text=text))
    return kept


def joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Pieces of one stream that follow each other, as one output."""
    found: list[NotebookNode] = []
    pieces: list[str] = []
    for output in outputs:
        if output.output_type == "stream" and found and found[-1].get("name") == output.name:
            pieces.append(output.text)
            continue
        _put_together(found, pieces)
        found.append(output)
        pieces = [output.text] if output.output_type == "stream" else []
    _put_together(found, pieces)
    return found


def _put_together(found: list[NotebookNode], pieces: list[str]) -> None:
    if len(pieces) > 1:
        found[-1] = NotebookNode({**found[-1], "text": "".join(pieces)})


def plain_output(outputs: list[NotebookNode]) -> str:
    """What a cell printed and showed, as text."""
    parts = []
    for output in outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append("\n".join(output.get("traceback", [])))
        else:
            parts.append(str(output.get("data", {}).get("text/plain", "")))
    return shortened(COLOURS.sub("", "\n".join(part.rstrip("\n") for part in parts)))


def shortened(text: str, most: int = MOST_TEXT) -> str:
    """Head and tail of a text."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def _capped(output: NotebookNode) -> NotebookNode:
    if output.output_type == "stream":
        return NotebookNode({**output, "text": shortened(str(output.text))})
    if output.output_type == "error":
        lines = [shortened(str(line), 4_000) for line in output.get("traceback", [])[-50:]]
        return NotebookNode({**output, "traceback": lines})
    data: dict[str, Any] = {}
    for kind in KEPT:
        if kind in output.get("data", {}):
            value = output["data"][kind]
            if kind == "text/plain":
                data[kind] = shortened(str(value))
            elif isinstance(value, str) and len(value) <= MOST_PICTURE:
                data[kind] = value  # whole or not at all: a piece of it shows nothing
    return NotebookNode({**output, "data": NotebookNode(data), "metadata": NotebookNode()})
