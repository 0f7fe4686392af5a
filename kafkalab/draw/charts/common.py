"""Drawings of records that many lessons use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from kafkalab.draw.drawing import (
    SINCE_FIRST,
    Moment,
    counted,
    counted_over_time,
    mark_moments,
    name_series,
    nothing,
    rows_of,
    seconds_since,
    series,
    thousands,
)

if TYPE_CHECKING:
    from kafkalab.draw.drawing import Frame

# The colours of the style by name, where a chart is asked for in red, blue and green.
COLOURS = {
    "blue": "#0072B2",
    "red": "#D55E00",
    "green": "#009E73",
    "pink": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "black": "#000000",
}

MARKERS = "os^DvPX"


def records_per_second(
    frame: Frame,
    ax: Axes | None = None,
    *,
    time: str = "timestamp",
    by: str | None = None,
    marks: Mapping[str, Moment] | None = None,
) -> Axes:
    """How many records came in each second; one row is one record."""
    ax = ax or plt.subplots()[1]
    ax.set(xlabel=SINCE_FIRST.format("record"), ylabel="records per second")
    edges, counts, origin = counted_over_time(frame, time, by)
    if counts.empty:
        return nothing(ax)
    for name, rows in series(counts, by):
        sizes = rows.set_index("span")["records"].reindex(range(len(edges) - 1), fill_value=0)
        ax.stairs(sizes / edges[1], edges, label=name, fill=by is None, linewidth=1.8)
    ax.set_ylim(0)
    thousands(ax.yaxis)
    mark_moments(ax, marks, origin)
    return name_series(ax, by)


def records_per_partition(
    frame: Frame,
    ax: Axes | None = None,
    *,
    partition: str = "partition",
    by: str | None = None,
    records: str | None = None,
) -> Axes:
    """How many records lie in each partition; one row is one record, or `records` of them."""
    ax = ax or plt.subplots()[1]
    ax.set(xlabel=partition, ylabel="records")
    counts = counted(frame, [partition] if by is None else [partition, by], records)
    if counts.empty:
        return nothing(ax)
    places = sorted(counts[partition].unique())
    groups = list(series(counts, by))
    width = 0.8 / len(groups)
    for number, (name, rows) in enumerate(groups):
        heights = rows.set_index(partition)["records"].reindex(places, fill_value=0)
        shift = (number - (len(groups) - 1) / 2) * width
        bars = ax.bar(np.arange(len(places)) + shift, heights, width * 0.94, label=name)
        if len(places) * len(groups) <= 18:
            ax.bar_label(bars, fmt="{:,.0f}", padding=2, fontsize=10)
    # Fifty numbers would run into one another.
    every = -(-len(places) // 25)
    ax.set_xticks(np.arange(len(places))[::every], places[::every])
    ax.grid(axis="x", visible=False)
    ax.margins(y=0.12)
    thousands(ax.yaxis)
    return name_series(ax, by)


def scatter_by_class(
    frame: Frame,
    x: str,
    y: str,
    by: str,
    ax: Axes | None = None,
    *,
    colours: Mapping[Any, str] | None = None,
    unit: str = "",
) -> Axes:
    """Two measures of each row against each other; colour and shape tell the class.

    `colours` gives a class one of the names in charts.COLOURS, or any colour of matplotlib. A class
    that is called like one of these has that colour anyway.
    """
    ax = ax or plt.subplots(figsize=(7.5, 4.4))[1]
    chosen = COLOURS | dict(colours or {})
    suffix = f" ({unit})" if unit else ""
    ax.set(xlabel=x.replace("_", " ") + suffix, ylabel=y.replace("_", " ") + suffix)
    rows = rows_of(frame, [x, y, by])
    if rows.empty:
        return nothing(ax)
    for number, (name, group) in enumerate(series(rows, by)):
        colour = chosen.get(group[by].iloc[0], f"C{number}")
        ax.scatter(
            group[x],
            group[y],
            s=36,
            color=COLOURS.get(colour, colour),
            marker=MARKERS[number % len(MARKERS)],
            alpha=0.75,
            label=f"{name} ({len(group):,})",
        )
    return name_series(ax, by)


def latency_distribution(
    frame: Frame,
    ax: Axes | None = None,
    *,
    latency: str = "latency_ms",
    by: str | None = None,
) -> Axes:
    """What share of the records was acknowledged within how many milliseconds.

    The scale is logarithmic: one slow record must not hide all others. Rows without a latency, as
    of sends that failed, are left out.
    """
    ax = ax or plt.subplots()[1]
    ax.set(xlabel="milliseconds until the acknowledgement", ylabel="share of the records")
    measured = rows_of(frame, [latency] if by is None else [latency, by]).dropna(subset=[latency])
    if measured.empty:
        return nothing(ax)
    for name, rows in series(measured, by):
        # A clock cannot tell less, and a logarithm has no place for nothing.
        times = np.sort(rows[latency].to_numpy(float).clip(min=0.001))
        shares = np.arange(1, len(times) + 1) / len(times)
        median = times[(len(times) - 1) // 2]
        words = f"half within {median:,.3g} ms"
        ax.step(times, shares, where="post", label=f"{name}: {words}")
        if name is None:
            ax.annotate(words, (median, 0.5), (6, -4), textcoords="offset points", va="top")
    ax.axhline(0.5, color="#888888", linestyle="-", linewidth=0.8)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.set_ylim(0, 1.02)
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    return name_series(ax, by)


def timeline(
    frame: Frame,
    ax: Axes | None = None,
    *,
    time: str = "seconds",
    value: str = "value",
    by: str | None = None,
    ylabel: str | None = None,
    marks: Mapping[str, Moment] | None = None,
    start: Moment | None = None,
) -> Axes:
    """A value that holds until the next row of its series.

    Seconds count from the first row, or from `start` where several charts share a clock.
    """
    ax = ax or plt.subplots()[1]
    since = "seconds" if start is not None else SINCE_FIRST.format("look")
    ax.set(xlabel=since, ylabel=ylabel or value.replace("_", " "))
    rows = rows_of(frame, [time, value] if by is None else [time, value, by])
    if rows.empty:
        return nothing(ax)
    rows["x"], origin = seconds_since(rows[time], start)
    end = rows["x"].max()
    for name, line in series(rows.sort_values("x", kind="stable"), by):
        # What was seen last holds to the end of the chart.
        x, y = [*line["x"], end], [*line[value], line[value].iloc[-1]]
        ax.step(x, y, where="post", label=name)
    if pd.api.types.is_integer_dtype(rows[value]):
        ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    thousands(ax.yaxis)
    mark_moments(ax, marks, origin)
    return name_series(ax, by)
