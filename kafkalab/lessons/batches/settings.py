"""What pairs of two settings do: a field for each pair, a grid for each measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from kafkalab.draw.drawing import nothing, rows_of

if TYPE_CHECKING:
    from kafkalab.draw.drawing import Frame


def settings_grids(frame: Frame, x: str, y: str, measures: Mapping[str, str]) -> Axes:
    """Side by side, a grid of x by y for each measure; a darker field is a greater value.

    `measures` maps columns to what stands above their grid. Returns the axes of the first one; the
    finding goes above all with `ax.figure.suptitle`.
    """
    grids = plt.subplots(1, len(measures), figsize=(9.5, 3.7), squeeze=False)[1]
    rows = rows_of(frame, [x, y, *measures])
    for ax, (measure, words) in zip(grids[0], measures.items(), strict=True):
        ax.set(xlabel=x.replace("_", " "), ylabel=y.replace("_", " "))
        ax.set_title(words, fontsize=11, fontweight="normal", loc="left")
        if rows.empty:
            nothing(ax)
        else:
            _grid(ax, rows.pivot_table(index=y, columns=x, values=measure))
    return grids[0][0]


def _grid(ax: Axes, table: pd.DataFrame) -> None:
    low = max(table.min().min(), 0.001)
    # Settings differ by factors, and so does what they do.
    scale = LogNorm(low, max(table.max().max(), low * 2))
    ax.imshow(table.clip(lower=low), cmap="Blues", norm=scale, aspect="auto", origin="lower")
    for row, values in enumerate(table.to_numpy()):
        for column, value in enumerate(values):
            colour = "white" if scale(max(value, low)) > 0.6 else "black"
            number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
            ax.text(column, row, number, ha="center", va="center", color=colour)
    ax.set_xticks(range(table.shape[1]), [f"{value:,}" for value in table.columns])
    ax.set_yticks(range(table.shape[0]), [f"{value:,}" for value in table.index])
    ax.grid(visible=False)
