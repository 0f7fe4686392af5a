"""What the charts have in common: rows from Spark or pandas, clocks, series, marks, numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from pyspark.sql import Column
    from pyspark.sql import DataFrame as SparkFrame

    Frame: TypeAlias = SparkFrame | pd.DataFrame

Moment: TypeAlias = float | datetime | pd.Timestamp

SINCE_FIRST = "seconds since the first {}"
MARK = "#444444"
# Under words that lines may cross.
PLATE = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
SPANS = 40


def rows_of(frame: Frame, columns: Sequence[str]) -> pd.DataFrame:
    """These columns as a pandas frame of its own."""
    if isinstance(frame, pd.DataFrame):
        return frame[list(columns)].copy()
    return frame.select(*columns).toPandas()


def counted(frame: Frame, keys: Sequence[str], records: str | None = None) -> pd.DataFrame:
    """The rows of each key, or the sum of a column, as `records`; counted where the data is."""
    if isinstance(frame, pd.DataFrame):
        groups = frame.groupby(list(keys))
        sums = groups.size() if records is None else groups[records].sum()
        return sums.rename("records").reset_index()
    from pyspark.sql import functions as F

    number = F.count("*") if records is None else F.sum(records)
    return frame.groupBy(*keys).agg(number.alias("records")).toPandas()


def counted_over_time(
    frame: Frame, time: str, by: str | None
) -> tuple[np.ndarray, pd.DataFrame, float]:
    """The edges of spans of one length that cover all rows, the counts in each, the first moment.

    The counts have the columns span, records and that of the series.
    """
    if isinstance(frame, pd.DataFrame):
        rows = frame.assign(span=_epoch(frame[time]))
        low, high = rows["span"].min(), rows["span"].max()
    else:
        from pyspark.sql import functions as F

        rows = frame.withColumn("span", _epoch_column(frame, time))
        ((low, high),) = rows.agg(F.min("span"), F.max("span")).collect()
    if low is None or math.isnan(low):
        columns = ["span", "records"] if by is None else ["span", "records", by]
        return np.array([0.0, 1.0]), pd.DataFrame(columns=columns, dtype=float), 0.0
    edges = np.linspace(0, *_spans(high - low))
    width = edges[1]
    if isinstance(frame, pd.DataFrame):
        # Not `//`: 0.5 // 0.1 is 4.
        rows["span"] = np.floor((rows["span"] - low) / width).clip(upper=len(edges) - 2)
    else:
        span = F.floor((F.col("span") - low) / width)
        rows = rows.withColumn("span", F.least(span, F.lit(len(edges) - 2)))
    return edges, counted(rows, ["span"] if by is None else ["span", by]), low


def _spans(whole: float) -> tuple[float, int]:
    """The end and the number of edges, for about forty spans of a round length.

    The last span is as long as the others, or its records would look like a drop.
    """
    if whole <= 0:
        return 1.0, 2
    rough = whole / SPANS
    power = 10.0 ** math.floor(math.log10(rough))
    width = next(power * step for step in (1, 2, 5, 10) if power * step >= rough)
    return whole, max(1, round(whole / max(width, 0.05))) + 1


def series(rows: pd.DataFrame, by: str | None) -> Iterator[tuple[str | None, pd.DataFrame]]:
    """The rows of each series in the order of its name, so that colours do not change by chance."""
    if by is None:
        yield None, rows
        return
    for name in sorted(rows[by].unique()):
        yield str(name), rows[rows[by] == name]


def seconds_since(moments: pd.Series, start: Moment | None = None) -> tuple[pd.Series, float]:
    """Moments as seconds after the first of them, or after `start`; and that moment."""
    epoch = _epoch(moments)
    origin = epoch.min() if start is None else _moment(start)
    return epoch - origin, origin


def _epoch(moments: pd.Series) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(moments):
        utc = moments.dt.tz_convert("UTC").dt.tz_localize(None) if moments.dt.tz else moments
        return utc.astype("datetime64[ns]").astype("int64") / 1e9
    return moments.astype(float)


def _epoch_column(frame: SparkFrame, time: str) -> Column:
    from pyspark.sql import functions as F

    if dict(frame.dtypes)[time] == "timestamp":
        return F.unix_micros(time) / 1e6
    return F.col(time).cast("double")


def _moment(moment: Moment) -> float:
    if isinstance(moment, datetime):
        # Without a zone, Python's own is in the time of this machine, as Spark's `first` and
        # `collect` write it, and one of pandas in UTC, as `toPandas` does. Both know that.
        return moment.timestamp()
    return float(moment)


def mark_moments(ax: Axes, marks: Mapping[str, Moment] | None, origin: float) -> None:
    """Upright lines with what happened then, on free rows above the data."""
    placed = sorted((_moment(moment) - origin, words) for words, moment in (marks or {}).items())
    if not placed:
        return
    left, right = ax.get_xlim()
    left, right = min(left, placed[0][0]), max(right, placed[-1][0])
    ax.set_xlim(left, right)
    ends: list[float] = []  # where the last label of each row ends
    letter = (right - left) / 85
    rows = []
    for x, words in placed:
        flipped = x + letter * len(words) > right
        start = x - letter * (len(words) + 1) if flipped else x
        row = next((n for n, end in enumerate(ends) if end <= start), len(ends))
        ends[row:] = [start + letter * (len(words) + 2), *ends[row + 1 :]]
        rows.append((x, words, flipped, row))
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + (high - low) * 0.1 * len(ends))
    for x, words, flipped, row in rows:
        ax.axvline(x, color=MARK, linestyle=(0, (3, 2)), linewidth=1, zorder=1.5)
        ax.annotate(
            words,
            (x, 1 - 0.085 * row),
            xycoords=("data", "axes fraction"),
            xytext=(-4 if flipped else 4, -2),
            textcoords="offset points",
            ha="right" if flipped else "left",
            va="top",
            color=MARK,
            fontsize=10.5,
            bbox=PLATE,
        )


def name_series(ax: Axes, by: str | None) -> Axes:
    """A legend beside the drawing, where it covers nothing; none where there is one series."""
    if by is not None and len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(title=by, loc="upper left", bbox_to_anchor=(1.01, 1), alignment="left")
    return ax


def nothing(ax: Axes) -> Axes:
    """The drawing of no rows: that there are none may be the finding."""
    ax.text(0.5, 0.5, "nothing to draw", transform=ax.transAxes, ha="center", color=MARK)
    ax.set(xticks=[], yticks=[])
    return ax


def thousands(axis: Axis) -> None:
    """Write the axis's numbers with commas."""
    axis.set_major_formatter("{x:,.10g}")
