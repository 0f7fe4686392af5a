"""A log between those who write to it and those who read it, each at a place of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from kafkalab.draw.diagrams.canvas import ADDED, GIVEN, QUIET, box, canvas

WIDTH, HEIGHT = 2.6, 0.5  # of a box with a name


def hub(writers: Sequence[str], records: Sequence[str], readers: Mapping[str, int]) -> Axes:
    """The records in the order in which they came; writers above the end, readers below.

    `readers` has for each the offset that it reads next. The widths of both rows follow the log,
    so name readers in the order of their places: their arrows do not cross then.
    """
    end = len(records)
    room = max(end + 1.3, WIDTH * 1.15 * max(len(writers), len(readers)))
    ax = canvas(width=room, height=4.1, size=(8.6, 3.6))
    for offset, value in enumerate(records):
        box(ax, offset, 1.75, 0.92, 0.55, GIVEN)
        ax.text(offset + 0.46, 2.025, value, ha="center", va="center")
        ax.text(offset + 0.46, 1.7, f"{offset}", ha="center", va="top", fontsize=9, color="0.4")
    box(ax, end, 1.75, 0.92, 0.55, QUIET)
    ax.text(end + 0.46, 2.025, "end", ha="center", va="center", color="0.4")
    ax.text(end + 0.46, 1.7, f"{end}", ha="center", va="top", fontsize=9, color="0.4")
    for name, left in zip(writers, _spread(len(writers), room), strict=True):
        _named(ax, name, left, 3.45, GIVEN)
        _arrow(ax, (left + WIDTH / 2, 3.43), (end + 0.46, 2.33), GIVEN)
    for (name, place), left in zip(readers.items(), _spread(len(readers), room), strict=True):
        _named(ax, f"{name} reads {place} next", left, 0.05, ADDED)
        _arrow(ax, (place + 0.46, 1.42), (left + WIDTH / 2, 0.57), ADDED)
    return ax


def _spread(number: int, room: float) -> list[float]:
    """The left edges of so many boxes, with the same room for each."""
    return [room * (place + 0.5) / number - WIDTH / 2 for place in range(number)]


def _named(ax: Axes, name: str, left: float, bottom: float, colour: str) -> None:
    box(ax, left, bottom, WIDTH, HEIGHT, colour)
    ax.text(left + WIDTH / 2, bottom + HEIGHT / 2, name, ha="center", va="center", color=colour)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour})
