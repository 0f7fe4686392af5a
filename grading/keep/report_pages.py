"""What the pages of the grader have in common: templates that escape, and sums."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grading.keep.words import as_number, counted, in_points

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(template: str, **content: Any) -> str:
    """A page from its template; whatever comes from a hand-in is escaped in it."""
    return _TEMPLATES.get_template(template).render(
        number=as_number, count=counted, points=in_points, **content
    )


def summed(points: Iterable[float | None]) -> float | None:
    """The sum; one unknown part makes the whole unknown."""
    known: list[float] = []
    for part in points:
        if part is None:
            return None
        known.append(part)
    return round(sum(known), 2)
