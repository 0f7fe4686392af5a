"""Boxes in columns and arrows between them, from a short description.

    plan(
        [["web shop", "sensors"], ["topic orders"], ["Spark", "search index"]],
        [("web shop", "topic orders"), ("topic orders", "Spark", "every second")],
        frames={"cluster": ["topic orders"]},
    )

A box is named by its text. Where two boxes have the same text, a name goes on behind a `#`:
"partition 0#left" and "partition 0#right". One unit of the drawing is one inch.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from kafkalab.diagrams.canvas import QUIET, box, canvas

LETTER, LINE = 0.083, 0.175  # inches, of the size below
SIZE = 10
LINES = "0.35"
# What stands between columns and rows; a frame needs room for its name.
FRAME, NAME = 0.13, 0.24

Arrow = tuple[str, str] | tuple[str, str, str]


@dataclass(frozen=True)
class Place:
    """A box where it lies; `column` counts from the left."""

    column: int
    left: float
    bottom: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.left + self.width / 2, self.bottom + self.height / 2

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def top(self) -> float:
        return self.bottom + self.height


def plan(
    columns: Sequence[Sequence[str | None]],
    arrows: Iterable[Arrow],
    *,
    colours: Mapping[str, str] | None = None,
    frames: Mapping[str, Sequence[str]] | None = None,
    width: float = 1.45,
    between: float = 0.75,
    gap: float = 0.25,
) -> Axes:
    """`None` in a column leaves a place free. An arrow may have a word; a frame encloses boxes.

    Arrows run between neighbouring columns or within one. Colours are by the name of a box or of
    both ends of an arrow, as in {"a": GIVEN, "a -> b": ADDED}. `width` is that of a box, `between`
    the room between columns, `gap` between rows, all in inches.
    """
    colours, frames = colours or {}, frames or {}
    texts = {
        name: wrapped(name.partition("#")[0], width)
        for column in columns
        for name in column
        if name is not None
    }
    height = 0.16 + LINE * max(text.count("\n") + 1 for text in texts.values())
    deepest = max(len(column) for column in columns)
    margin = FRAME if frames else 0.02
    total = deepest * (height + gap) - gap
    places = {}
    for number, column in enumerate(columns):
        top = margin + total - (deepest - len(column)) * (height + gap) / 2
        for row, name in enumerate(column):
            if name is not None:
                left = margin + number * (width + between)
                bottom = top - row * (height + gap) - height
                places[name] = Place(number, left, bottom, width, height)
    wide = 2 * margin + len(columns) * (width + between) - between
    high = 2 * margin + total + (NAME if frames else 0)
    ax = canvas(wide, high, (wide + 0.25, high + 0.55))
    for name, enclosed in frames.items():
        _frame(ax, name, [places[one] for one in enclosed])
    for name, place in places.items():
        box(ax, place.left, place.bottom, width, height, colours.get(name, QUIET))
        ax.text(*place.middle, texts[name], ha="center", va="center", fontsize=SIZE)
    for start, end, *words in arrows:
        key = f"{start} -> {end}"
        colour = colours.get(key, LINES)
        _arrow(ax, key, places[start], places[end], words[0] if words else "", colour)
    return ax


def wrapped(text: str, width: float) -> str:
    """In lines that fit into so many inches; breaks that are there stay."""
    letters = int((width - 0.12) / LETTER)
    return "\n".join(
        "\n".join(textwrap.wrap(line, letters, break_long_words=False)) for line in text.split("\n")
    )


def _frame(ax: Axes, name: str, enclosed: Sequence[Place]) -> None:
    left, bottom = min(one.left for one in enclosed), min(one.bottom for one in enclosed)
    right, top = max(one.right for one in enclosed), max(one.top for one in enclosed)
    ax.add_patch(
        Rectangle(
            (left - FRAME, bottom - FRAME),
            right - left + 2 * FRAME,
            top - bottom + 2 * FRAME,
            fill=False,
            edgecolor=LINES,
            linestyle=(0, (4, 3)),
        )
    )
    ax.text(left - FRAME, top + FRAME + 0.04, name, va="bottom", fontsize=SIZE, color=LINES)


def _arrow(ax: Axes, key: str, start: Place, end: Place, words: str, colour: str) -> None:
    """From edge to edge; its gid says between which boxes."""
    if start.column == end.column:
        x, _ = start.middle
        down = start.bottom > end.bottom
        tail, head = (
            ((x, start.bottom), (x, end.top)) if down else ((x, start.top), (x, end.bottom))
        )
    elif start.column < end.column:
        tail, head = (start.right, start.middle[1]), (end.left, end.middle[1])
    else:
        tail, head = (start.left, start.middle[1]), (end.right, end.middle[1])
    arrow = ax.annotate(
        "",
        head,
        tail,
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "shrinkA": 1,
            "shrinkB": 1,
            "linestyle": "-",
        },
    )
    arrow.set_gid(key)
    if words:
        beside = start.column == end.column
        ax.text(
            (tail[0] + head[0]) / 2 + (0.06 if beside else 0),
            (tail[1] + head[1]) / 2,
            words,
            ha="left" if beside else "center",
            va="center",
            fontsize=SIZE - 1,
            color=colour,
            zorder=4,  # above an arrow that comes back the same way
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
