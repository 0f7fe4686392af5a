"""The charts of one partition's log: its files over time, and its offsets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, MaxNLocator

from kafkalab.draw.drawing import (
    PLATE,
    SINCE_FIRST,
    Moment,
    mark_moments,
    nothing,
    rows_of,
    seconds_since,
    thousands,
)

if TYPE_CHECKING:
    from kafkalab.draw.drawing import Frame

# Lighter than the style's, for black names; neighbours differ in lightness too.
FILES = ("#9CC9E8", "#F3CE7F", "#8FCFB6", "#E9C3D8")
FULL, EDGE = "#CFE3F1", "#0072B2"
# More boxes than this would be too small for the number in them.
BOXES = 26


def files_over_time(
    frame: Frame,
    ax: Axes | None = None,
    *,
    time: str = "seconds",
    file: str = "segment",
    size: str = "bytes",
    marks: Mapping[str, Moment] | None = None,
) -> Axes:
    """The bytes of each segment file, one upon the other: a file grows, is closed, is deleted.

    One row is one look at one file. A file without a row at a time at which others were seen is
    taken as deleted. Between two looks nothing is known, hence the steps.
    """
    ax = ax or plt.subplots()[1]
    ax.set(xlabel=SINCE_FIRST.format("look"), ylabel=f"bytes on disk, by {file}")
    looks = rows_of(frame, [time, file, size])
    if looks.empty:
        return nothing(ax)
    looks["x"], origin = seconds_since(looks[time])
    table = looks.pivot_table(index="x", columns=file, values=size, aggfunc="last").fillna(0)
    shades = [FILES[number % len(FILES)] for number in range(table.shape[1])]
    ax.stackplot(table.index, table.T, step="post", colors=shades, edgecolor="white")
    tops = table.cumsum(axis=1)
    for name in table.columns:
        # A band that is too low has no room for its name.
        if table[name].max() > tops.to_numpy().max() / 15:
            x, y = _middle(table[name], tops[name] - table[name])
            ax.text(x, y, name, ha="center", va="center", fontsize=10)
    ax.set_ylim(0)
    ax.yaxis.set_major_formatter(EngFormatter("B"))
    mark_moments(ax, marks, origin)
    return ax


def _middle(heights: pd.Series, floors: pd.Series) -> tuple[float, float]:
    """The middle of a band where it is high and lies still for longest: the place for its name."""
    looks = pd.DataFrame({"height": heights, "floor": floors, "from": heights.index})
    looks["to"] = looks["from"].shift(-1, fill_value=looks["from"].iloc[-1])
    looks["rest"] = (looks["floor"].diff() != 0).cumsum()
    high = looks[looks["height"] > heights.max() * 0.7]
    rests = high.groupby("rest").agg({"from": "min", "to": "max", "floor": "min", "height": "min"})
    best = rests.loc[(rests["to"] - rests["from"]).idxmax()]
    return (best["from"] + best["to"]) / 2, best["floor"] + best["height"] / 2


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
        ha="right" if end - first > 3 else "left",
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
            bbox=PLATE,
        )
    ax.set(xlabel="offset", yticks=[], ylim=(-len(groups) * 0.7 - 0.35, 1.4))
    # A few boxes are not drawn larger than many.
    ax.set_xlim(first - room, max(end + 1, first + 12) if boxes else end + room)
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
