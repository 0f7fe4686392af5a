"""What became of records that were sent while something failed."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from kafkalab.draw.drawing import PLATE, counted, nothing, thousands

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kafkalab.draw.drawing import Frame
    from kafkalab.evidence.ledger import Ledger

# What can become of a record, in the order of the bar. Hatches tell them apart in grey print.
FATES = {
    "kept": ("#009E73", ""),
    "lost": ("#D55E00", "///"),
    "refused": ("#BBBBBB", "..."),
}


def outcomes(spark: SparkSession, ledgers: Mapping[str, Ledger]) -> DataFrame:
    """One row for each send of these ledgers, with its `setting` and its `fate`.

    What was neither acknowledged nor refused has none; the topics must have been read back.
    """
    from pyspark.sql import functions as F

    fate = (
        F.when(F.col("state") == "failed", "refused")
        .when(F.col("state") != "acknowledged", None)
        .when(F.col("copies_in_log") > 0, "kept")
        .otherwise("lost")
    )
    frames = [
        ledger.frame(spark).select(F.lit(setting).alias("setting"), fate.alias("fate"))
        for setting, ledger in ledgers.items()
    ]
    return functools.reduce(lambda one, other: one.union(other), frames)


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
