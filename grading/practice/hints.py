"""A hint in steps, as Markdown and as HTML.

The paragraphs of a hint are its steps: each says a little more than the one before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from grading.judge.outcome import Outcome
from grading.judge.visible import CellState

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

PARAGRAPH = re.compile(r"\n[ \t]*\n")


def steps(hint: str) -> list[str]:
    """The steps of a hint, each a paragraph of Markdown."""
    return [step.strip() for step in PARAGRAPH.split(hint) if step.strip()]


def as_html(markdown: str) -> str:
    """Markdown as HTML. Tags in it are shown as text, and links that run something are none."""
    return _renderer().render(markdown).strip()


@cache
def _renderer() -> MarkdownIt:
    # Loaded where something is shown: the process of an attempt has no use for it before.
    from markdown_it import MarkdownIt

    return MarkdownIt("js-default", {"html": False, "linkify": False}).disable("image")


def causes(cells: Mapping[int, CellState], unanswered: set[int]) -> dict[int, str]:
    """What ended the cell of a task before its end, in words; a hint would come too early there.

    A cell without an answer ends with an error too, which is no news.
    """
    fine = {Outcome.RAN, Outcome.NOT_REACHED}
    return {
        number: cell.error or str(cell.state)
        for number, cell in cells.items()
        if cell.state not in fine and number not in unanswered
    }
