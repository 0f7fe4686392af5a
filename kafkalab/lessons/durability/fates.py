"""What became of records that were sent while something failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from kafkalab.draw.drawing import PLATE, counted, nothing, rows_of, series, thousands

if TYPE_CHECKING:
    from kafkalab.draw.drawing import Frame

# What can become of a record, in the order of the bar. Hatches tell them apart in grey print.
FATES = {
    "kept": ("#009E73", ""),
    "lost": ("#D55E00", "///"),
    "refused": ("#BBBBBB", "..."),
}
# The columns of the frames for `log_ends` and for `answers`, as Spark wants them named.
LOG_ENDS = "place int, moment string, replica int, log_end long, setting string"
ANSWERS = "in_sync int, minimum int, acks string, answer string"
COLOURS = {"read": "#BFE3D5", "unseen": "#F6DDA8", "refused": "#F2C4A6"}


def fates(
    frame: Frame,
    ax: Axes | None = None,
    *,
    by: str = "setting",
    fate: str = "fate",
    order: Sequence[str] | None = None,
) -> Axes:
    """A bar for each setting: how many records were kept, lost, refused. One row is one record.

    `kept` and `lost` are acknowledged ones; `refused` never were. The settings stand in the given
    order, or in that of their names, the first on top.
    """
    counts = counted(frame, [by, fate])
    settings = list(order or sorted(counts[by].unique()))
    ax = ax or plt.subplots(figsize=(9, 1.4 + 0.36 * len(settings)))[1]
    ax.set(xlabel="records", ylabel="")
    if counts.empty:
        return nothing(ax)
    table = counts.pivot_table(
        index=by, columns=fate, values="records", aggfunc="sum", fill_value=0
    )
    table = table.reindex(settings, fill_value=0)
    left = pd.Series(0, index=table.index)
    for name, (colour, hatch) in FATES.items():
        if name not in table:
            continue
        bars = ax.barh(
            *(table.index, table[name]),
            left=left,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            label=name,
        )
        shown = [f"{count:,}" if count else "" for count in table[name]]
        for text in ax.bar_label(bars, shown, label_type="center", fontsize=10):
            if text.get_text():
                text.set_bbox(PLATE)
        left += table[name]
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    thousands(ax.xaxis)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return ax


def log_ends(
    frame: Frame,
    *,
    moment: str = "moment",
    order: str = "place",
    replica: str = "replica",
    end: str = "log_end",
    by: str = "setting",
) -> Axes:
    """How long each replica's log was at a few moments, beside one another for each setting.

    Returns the first of the drawings; they share the height, so that they can be compared.
    """
    rows = rows_of(frame, [moment, order, replica, end, by])
    settings = sorted(rows[by].unique())
    _, axes = plt.subplots(1, max(len(settings), 1), figsize=(9, 3.4), sharey=True, squeeze=False)
    for ax, setting in zip(axes[0], settings, strict=False):
        part = rows[rows[by] == setting].sort_values(order)
        names = part.drop_duplicates(order)[moment].tolist()
        for number, (name, line) in enumerate(series(part, replica)):
            # Equal lengths would hide one another.
            shifted = line[order] + (number - 1) * 0.05
            ax.plot(shifted, line[end], marker="os^D"[number % 4], label=f"replica {name}")
        ax.set_xticks(range(len(names)), names, fontsize=9)
        ax.set_xlabel(f"moments of {setting}")
        thousands(ax.yaxis)
    if rows.empty:
        return nothing(axes[0][0])
    axes[0][0].set(ylabel="log end offset", ylim=(0, None))
    axes[0][-1].legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return axes[0][0]


def answers(
    frame: Frame,
    *,
    in_sync: str = "in_sync",
    minimum: str = "minimum",
    acks: str = "acks",
    answer: str = "answer",
    order: Sequence[str] = ("0", "1", "all"),
) -> Axes:
    """A field for each acks, minimum and number of in-sync replicas, with what became of a record.

    `read`: accepted, and a consumer can read it; `unseen`: accepted, and none can; `refused`.
    Returns the first of the drawings.
    """
    rows = rows_of(frame, [in_sync, minimum, acks, answer])
    sizes = sorted(rows[in_sync].unique(), reverse=True)
    figure, axes = plt.subplots(
        1, max(len(sizes), 1), figsize=(9, 3), sharey=True, squeeze=False, layout="none"
    )
    # The usual layout would push the drawings apart until the title of the first one ends.
    figure.subplots_adjust(left=0.08, right=0.99, bottom=0.19, top=0.86, wspace=0.07)
    if rows.empty:
        return nothing(axes[0][0])
    minimums = sorted(rows[minimum].unique())
    for ax, size in zip(axes[0], sizes, strict=True):
        for row in rows[rows[in_sync] == size].itertuples():
            x, y = order.index(str(getattr(row, acks))), minimums.index(getattr(row, minimum))
            word = getattr(row, answer)
            ax.add_patch(plt.Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, color=COLOURS[word]))
            ax.text(x, y, word, ha="center", va="center", fontsize=10)
        ax.set(xlim=(-0.55, len(order) - 0.45), ylim=(len(minimums) - 0.45, -0.55))
        ax.set_xticks(range(len(order)), order)
        ax.set_yticks(range(len(minimums)), minimums)
        ax.set_xlabel(f"acks, with {size} in sync")
        ax.grid(visible=False)
    axes[0][0].set_ylabel("min.insync.replicas")
    return axes[0][0]
