"""Cells of a notebook that is being put together.

Those of nbformat are looked at one by one, by the slower of its two checkers: that was most of the
work of building and weaving. A notebook is looked at as a whole when it is made of its cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbformat import NotebookNode


def code_cell(text: str, name: str = "", metadata: Mapping[str, Any] | None = None) -> NotebookNode:
    """One that has not run. name: its id."""
    return _cell(
        cell_type="code",
        id=name,
        metadata=metadata or {},
        source=text,
        execution_count=None,
        outputs=[],
    )


def markdown_cell(
    text: str, name: str = "", metadata: Mapping[str, Any] | None = None
) -> NotebookNode:
    """One with prose. name: its id."""
    return _cell(cell_type="markdown", id=name, metadata=metadata or {}, source=text)


def _cell(**parts: Any) -> NotebookNode:
    cell = NotebookNode()
    cell.update(parts)  # unlike its constructor, makes nodes of the tables within
    return cell
