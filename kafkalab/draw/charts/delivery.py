"""Lost and extra records: how a run of a producer and its consumers ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from kafkalab.draw.charts.common import COLOURS
from kafkalab.draw.drawing import nothing, rows_of, thousands

if TYPE_CHECKING:
    from kafkalab.draw.drawing import Frame

LOOKS = {"lost": COLOURS["red"], "extra": COLOURS["blue"]}
# A name that is longer would run into its neighbour below a standing bar.
SHORT = 8


def lost_and_extra(frame: Frame, ax: Axes | None = None, *, by: str = "partition") -> Axes:
    """Two bars for each row of the frame, which has the columns `by`, `lost` and `extra`.

    Bars lie where the rows have long names, such as the settings of several runs.
    """
    rows = rows_of(frame, [by, *LOOKS])
    names = [str(name) for name in rows[by]]
    lying = any(len(name) > SHORT for name in names)
    if ax is None:
        ax = plt.subplots(figsize=(7.5, 1.4 + 0.55 * len(names)) if lying else None)[1]
    ax.set(xlabel="records" if lying else by, ylabel=by if lying else "records")
    if rows.empty:
        return nothing(ax)
    places = np.arange(len(names))
    for number, (what, colour) in enumerate(LOOKS.items()):
        draw = ax.barh if lying else ax.bar
        label = f"{what} ({rows[what].sum():,})"
        bars = draw(places + (number - 0.5) * 0.4, rows[what], 0.38, color=colour, label=label)
        # Zero is a finding too, and has no bar to be seen by.
        ax.bar_label(bars, fmt="{:,.0f}", padding=2, fontsize=10)
    (ax.set_yticks if lying else ax.set_xticks)(places, names)
    counts = ax.xaxis if lying else ax.yaxis
    counts.set_major_locator(MaxNLocator(integer=True))
    thousands(counts)
    ax.grid(axis="y" if lying else "x", visible=False)
    if lying:
        ax.invert_yaxis()  # the first row on top, as in a table
    if lying:
        ax.margins(x=0.14)
        ax.set_xlim(0)
    else:
        ax.margins(y=0.14)
        ax.set_ylim(0)
    ax.legend()
    return ax


def lost_and_extra_each(runs: Mapping[str, Frame], columns: int = 2) -> list[Axes]:
    """A small chart for each run, with the bars of its partitions; one legend for all.

    Each has a scale of its own: what is compared is the partitions of one run.
    """
    rows = max(1, -(-len(runs) // columns))
    size = (7.5, 0.8 + 1.8 * rows)
    axes = plt.subplots(rows, columns, figsize=size, squeeze=False)[1].flatten().tolist()
    marks: list[Artist] = []
    for ax, (name, frame) in zip(axes, runs.items(), strict=False):
        lost_and_extra(frame, ax)
        sums = rows_of(frame, list(LOOKS)).sum()
        found = ", ".join(f"{sums[what]:,.0f} {what}" for what in LOOKS)
        ax.set_title(f"{name}: {found}", fontsize=10.5)
        ax.margins(y=0.25)
        ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        if ax.get_legend():
            marks = ax.get_legend_handles_labels()[0]
            ax.get_legend().remove()
    for ax in axes[len(runs) :]:
        ax.remove()
    if marks:
        axes[0].figure.legend(marks, list(LOOKS), loc="outside lower center", ncols=len(LOOKS))
    drawn: list[Axes] = axes[: len(runs)]
    return drawn
