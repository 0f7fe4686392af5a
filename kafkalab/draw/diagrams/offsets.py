"""The offsets of one partition: what each copy holds, and up to where a reader gets."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

from kafkalab.draw.diagrams.canvas import ADDED, GIVEN, QUIET, box, canvas

SHOWN = 22  # more boxes than this would be too small for the number in them


def offsets(
    ends: Mapping[str, int], high_watermark: int, places: Mapping[str, int] | None = None
) -> Axes:
    """A row of boxes for each copy, from its log end offset; the high watermark across all.

    `places` are offsets of readers, such as a position or a committed offset: arrows from below.
    """
    places = dict(places or {})
    last = max([*ends.values(), high_watermark, *places.values()])
    start = max(0, min([*ends.values(), high_watermark, *places.values(), last - SHOWN + 4]) - 3)
    left, room = 4.2, last - start + 4.5
    height = len(ends) + 1.1 + 0.75 * len(places)
    ax = canvas(left + room, height, size=(9, 0.5 * height + 0.3))
    base = 0.75 * len(places) + 0.2

    def x(offset: int) -> float:
        return left + offset - start

    for row, (name, end) in enumerate(ends.items()):
        bottom = base + len(ends) - 1 - row
        ax.text(0, bottom + 0.35, name, va="center")
        for offset in range(start, end):
            readable = offset < high_watermark
            box(ax, x(offset) + 0.05, bottom, 0.9, 0.7, GIVEN if readable else QUIET)
            ax.text(x(offset) + 0.5, bottom + 0.35, f"{offset}", ha="center", va="center")
        ax.text(x(end) + 0.2, bottom + 0.35, f"log end {end}", va="center", color="0.35")
    mark, top = x(high_watermark), base + len(ends)
    ax.plot([mark, mark], [base - 0.15, top], color=ADDED, linestyle="-", linewidth=2)
    ax.text(mark, top + 0.1, f"high watermark {high_watermark}", ha="center", color=ADDED)
    for row, (name, offset) in enumerate(places.items()):
        level = base - 0.55 - 0.75 * row
        ax.annotate(
            f"{name} {offset}",
            (x(offset) + 0.5, base - 0.05),
            (x(offset), level),
            ha="right",
            va="center",
            arrowprops={
                "arrowstyle": "-|>",
                "color": "0.3",
                "connectionstyle": "angle,angleA=0,angleB=90",
            },
        )
    return ax
