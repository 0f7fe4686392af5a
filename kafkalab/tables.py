"""Small tables of live state, as plain text and as HTML. Columns of numbers stand to the right."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

NUMBER = "text-align: right; font-variant-numeric: tabular-nums"
WORD = "text-align: left"


def text(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table for a terminal or a cell's plain output."""
    cells = [[show(value) for value in row] for row in rows]
    widths = [max(len(line[place]) for line in [columns, *cells]) for place in range(len(columns))]
    right = [is_numeric(rows, place) for place in range(len(columns))]

    def line(values: Sequence[str]) -> str:
        aligned = (
            value.rjust(width) if number else value.ljust(width)
            for value, width, number in zip(values, widths, right, strict=True)
        )
        return "  ".join(aligned).rstrip()

    return "\n".join([line(columns), *map(line, cells)])


def html(caption: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The same table for a notebook; the caption stands above it."""
    styles = [NUMBER if is_numeric(rows, place) else WORD for place in range(len(columns))]
    head = "".join(
        f'<th scope="col" style="{style}">{escape(name)}</th>'
        for name, style in zip(columns, styles, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{style}">{escape(show(value))}</td>'
            for value, style in zip(row, styles, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    title = f'<caption style="{WORD}; caption-side: top">{escape(caption)}</caption>'
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def show(value: object) -> str:
    """`None` is a dash, a list of brokers is `0, 1, 2`, a number has its thousands apart."""
    if value is None:
        return "—"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, (list, tuple, set)):
        return ", ".join(map(str, value)) or "—"
    return str(value)


def is_numeric(rows: Sequence[Sequence[object]], place: int) -> bool:
    """Whether a column holds numbers only; None counts as neither."""
    values = [row[place] for row in rows if row[place] is not None]
    return bool(values) and all(isinstance(value, (int, float)) for value in values)
