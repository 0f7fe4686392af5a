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


def lost_and_extra(frame: Frame, ax: Axes | None = None) -> Axes:
    """Two bars for each row of the frame, which has the columns `partition`, `lost`, `extra`."""
    rows = rows_of(frame, ["partition", *LOOKS])
    names = [str(name) for name in rows["partition"]]
    if ax is None:
        ax = plt.subplots()[1]
    ax.set(xlabel="partition", ylabel="records")
    if rows.empty:
        return nothing(ax)
    places = np.arange(len(names))
    for number, (what, colour) in enumerate(LOOKS.items()):
        label = f"{what} ({rows[what].sum():,})"
        bars = ax.bar(places + (number - 0.5) * 0.4, rows[what], 0.38, color=colour, label=label)
        # Zero is a finding too, and has no bar to be seen by.
        ax.bar_label(bars, fmt="{:,.0f}", padding=2, fontsize=10)
    ax.set_xticks(places, names)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    thousands(ax.yaxis)
    ax.grid(axis="x", visible=False)
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
