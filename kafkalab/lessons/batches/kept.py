"""How much the codecs leave."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes


def codecs(kept: pd.DataFrame) -> Axes:
    """A group of bars for each codec (the rows), in it one for each batch size (the columns): the
    bytes that are left of 100, written on the bar."""
    named = kept.rename(columns="batch_size {:,}".format)
    ax = named.plot.bar(rot=0, figsize=(9, 3.4), xlabel="", ylabel="bytes left of 100")
    for bars in ax.containers:
        ax.bar_label(bars, fmt="%.0f", padding=2)
    ax.margins(y=0.25)
    ax.legend(title=None, loc="upper left", ncols=2)
    return ax
