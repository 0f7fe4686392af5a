"""What settings cost: how many requests, how long they take, how long a record waits."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

if TYPE_CHECKING:
    from kafkalab.gateway import Frame

COLOURS = ("C0", "C7", "C1")


def costs(waits: Mapping[str, list[float]], frames: Iterable[Frame]) -> pd.DataFrame:
    """A row for each of the settings, the first of which wrote to partition 0, and so on.

    waits: how many milliseconds each record waited, by setting. The columns are the requests, the
    records in one on average, and times of which half are shorter, in milliseconds: that a request
    is at the broker, and that time for each of its records; from one request to the next; and until
    a record is acknowledged.
    """
    produced = [frame for frame in frames if frame.batches]
    rows = []
    for partition, times in enumerate(waits.values()):
        own = [frame for frame in produced if frame.batches[0].partition == partition]
        records = sum(batch.records for frame in own for batch in frame.batches)
        took = statistics.median(frame.ms for frame in own if frame.ms is not None)
        left = sorted(frame.requested for frame in own)
        between = [1_000 * (after - one) for one, after in itertools.pairwise(left)]
        apart = statistics.median(between) if between else math.nan
        in_one = records / len(own)
        waited = statistics.median(times)
        rows.append((len(own), in_one, took, took / in_one, apart, waited))
    columns = ["requests", "records_in_one", "request_ms", "each_ms", "apart_ms", "record_ms"]
    return pd.DataFrame(rows, index=list(waits), columns=columns)


def side_by_side(table: pd.DataFrame, records: int) -> Axes:
    """A row for each row of the table of `costs`, from the top; beside one another three scales:
    the requests for so many records, the broker's time for each, and how long each waits.

    Settings differ by factors, and so does what they cost: each line of a scale is ten times the
    one before. Returns the first axes; the finding goes above all with `ax.figure.suptitle`.
    """
    measures = {
        "requests": f"requests for {records} records",
        "each_ms": "broker's ms for each record",
        "record_ms": "ms until a record's receipt",
    }
    size = (9.5, 1.5 + 0.36 * len(table))
    axes = plt.subplots(1, len(measures), figsize=size, sharey=True, squeeze=False)[1][0]
    rows = range(len(table))
    for ax, colour, (measure, words) in zip(axes, COLOURS, measures.items(), strict=True):
        values = list(table[measure])
        ax.set_title(words, fontsize=11, fontweight="normal", loc="left")
        ax.set_xscale("log")
        ax.plot(values, rows, "o", color=colour, markersize=9)
        for row, value in zip(rows, values, strict=True):
            number = f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
            offset = {"xytext": (9, 0), "textcoords": "offset points"}
            ax.annotate(number, (value, row), va="center", fontsize=10, **offset)
        ax.set_xlim(10 ** math.floor(math.log10(min(values))) * 0.8, max(values) * 6)
        ax.xaxis.set_major_formatter("{x:,g}")
        ax.xaxis.set_minor_formatter("")
    axes[0].set_yticks(rows, list(table.index))
    axes[0].set_ylim(len(table) - 0.5, -0.5)
    return axes[0]
