"""How many records each member read of each partition, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from kafkalab.draw.drawing import counted, nothing

if TYPE_CHECKING:
    from kafkalab.draw.drawing import Frame


def records_by_member(records: Frame) -> Axes:
    """A row for each member, a column for each partition; one row of the frame is one record.

    Spark counts its own.
    """
    _, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
    ax.set(xlabel="partition", ylabel="member")
    counts = counted(records, ["member", "partition"])
    if counts.empty:
        return nothing(ax)
    table = counts.pivot(index="member", columns="partition", values="records").fillna(0)
    shown = ax.pcolormesh(table.to_numpy(), cmap="Blues", edgecolor="white", vmin=0)
    ax.set_xticks([n + 0.5 for n in range(table.shape[1])], [f"{n:.0f}" for n in table.columns])
    ax.set_yticks([n + 0.5 for n in range(table.shape[0])], list(table.index))
    ax.invert_yaxis()
    ax.grid(visible=False)
    middle = table.to_numpy().max() / 2
    for row, held in enumerate(table.to_numpy()):
        for column, number in enumerate(held):
            colour = "white" if number > middle else "black"
            ax.text(
                column + 0.5, row + 0.5, f"{number:,.0f}", ha="center", va="center", color=colour
            )
    ax.figure.colorbar(shown, ax=ax, label="records")
    return ax
