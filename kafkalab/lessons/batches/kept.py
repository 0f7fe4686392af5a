"""How much the codecs leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


def left_of_100(
    cluster: Cluster, topic: str, choices: Sequence[tuple[str | None, int]]
) -> pd.DataFrame:
    """Of 100 bytes that are stored without a codec how many are left, by codec and batch size.

    choices: the codec and the batch size with which each partition was written to, from 0 on; each
    partition has the same records.
    """
    stored = [
        sum(batch.bytes for batch in cluster.batches(topic, partition))
        for partition in range(len(choices))
    ]
    names = pd.MultiIndex.from_tuples((codec or "none", size) for codec, size in choices)
    sizes = pd.Series(stored, names).unstack()
    shares: pd.DataFrame = 100 * sizes / sizes.loc["none"]
    return shares.drop("none").sort_values(sizes.columns.max())


def codecs(kept: pd.DataFrame) -> Axes:
    """A group of bars for each codec (the rows), in it one for each batch size (the columns): the
    bytes that are left of 100, written on the bar."""
    named = kept.rename(columns="batch_size {:,}".format)
    ax = named.plot.bar(
        rot=0, figsize=(9, 3.4), xlabel="", ylabel="bytes left of 100 without codec"
    )
    for bars in ax.containers:
        ax.bar_label(bars, fmt="%.0f", padding=2)
    ax.margins(y=0.25)
    ax.legend(title=None, loc="upper left", ncols=2)
    return ax
