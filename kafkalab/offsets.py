"""One partition as a line of offsets, with the places of its producer and of its groups."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from kafkalab.drawing import thousands

FULL, EDGE = "#CFE3F1", "#0072B2"
# More boxes than this would be too small for the number in them.
BOXES = 26


def offsets_line(
    end: int, committed: Mapping[str, int] | None = None, start: int = 0, ax: Axes | None = None
) -> Axes:
    """The log from `start` to `end`, and below it what each group still has to read: its lag.

    `end` is the offset that the next record will get; a group stands at the offset it reads next.
    """
    groups = list((committed or {}).items())
    ax = ax or plt.subplots(figsize=(7.5, 1.7 + 0.42 * len(groups)))[1]
    boxes = end - start <= BOXES
    # A place is an offset; where offsets are boxes, its middle is meant.
    middle = 0.5 if boxes else 0.0
    if boxes:
        _boxes(ax, start, end)
    else:
        ax.barh(0, end - start, left=start, height=0.6, color=FULL, edgecolor=EDGE)
        ax.text((start + end) / 2, 0, f"{end - start:,} records", ha="center", va="center")
    first = min([start, *(place for _, place in groups)])
    room = max(end - first, 1) * 0.012
    ax.annotate(
        f"next record: {end:,}",
        (end + middle, 0.32),
        (end + middle, 0.95),
        arrowprops={"arrowstyle": "-|>", "color": "#444444"},
        ha="right",
        va="bottom",
    )
    for row, (group, place) in enumerate(groups, 1):
        colour = f"C{(row - 1) % 7}"
        left, right = place + middle, end + middle
        ax.plot([left, left], [-0.32, -row * 0.7], color=colour, linestyle="-", linewidth=1.5)
        if place < end:
            ax.annotate(
                "",
                (right, -row * 0.7),
                (left, -row * 0.7),
                arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.5},
            )
        # Beside the arrow there is room on the side of the log's beginning, or above it.
        before = left - first > (end - first) * 0.35
        ax.text(
            left + (-room if before else room),
            -row * 0.7 + (0 if before else 0.06),
            f"{group} reads {place:,} next, lag {end - place:,}",
            ha="right" if before else "left",
            va="center" if before else "bottom",
            color=colour,
        )
    ax.set(xlabel="offset", yticks=[], ylim=(-len(groups) * 0.7 - 0.35, 1.4))
    ax.set_xlim(first - room, end + (1 if boxes else 0) + room)
    ax.spines["left"].set_visible(False)
    ax.grid(visible=False)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    thousands(ax.xaxis)
    if boxes:
        ax.set_xticks([])
        ax.spines["bottom"].set_visible(False)
    return ax


def _boxes(ax: Axes, start: int, end: int) -> None:
    for offset in range(start, end + 1):
        written = offset < end
        ax.barh(
            0,
            0.92,
            left=offset + 0.04,
            height=0.6,
            color=FULL if written else "white",
            edgecolor=EDGE,
            linestyle="-" if written else ":",
        )
        ax.text(offset + 0.5, 0, f"{offset}", ha="center", va="center", fontsize=10)
