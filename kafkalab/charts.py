"""The drawings that recur: each takes rows (Spark or pandas) and returns matplotlib's Axes.

A chart is a sentence, so the title is the cell's: computed there, from what the cell measured.
Here are the axes with their units, colours that colour-blind eyes tell apart, and `show`, which
gives a picture its text alternative.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame

    Rows = DataFrame | pandas.DataFrame

STYLE = Path(__file__).with_name("kafkalab.mplstyle")
# A topic of a lesson has at most some thousand records a second; more bars than this say nothing.
BINS = 40
FAULT = "0.25"


@dataclass(frozen=True)
class Picture:
    """A drawing and what it shows, in words. JupyterLab and HTML show both to their readers."""

    png: bytes
    text: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        data = base64.b64encode(self.png).decode()
        picture = f'<img alt="{html.escape(self.text)}" src="data:image/png;base64,{data}">'
        return {"text/html": picture, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def show(ax: Axes, text: str) -> Picture:
    """The finished drawing with its text alternative; the figure is closed."""
    buffer = io.BytesIO()
    # Without the software's name in the file the same drawing gives the same bytes.
    ax.figure.savefig(buffer, format="png", metadata={"Software": None})
    plt.close(ax.figure)
    return Picture(buffer.getvalue(), " ".join(text.split()))


def records_per_second(
    frame: Frame,
    ax: Axes | None = None,
    *,
    time: str = "timestamp",
    by: str | None = None,
    marks: Iterable[Mark] = (),
) -> Axes:
    """How many records came in each second; one row is one record."""
    ax = ax or plt.subplots()[1]
    edges, counts, origin = counted_over_time(frame, time, by)
    for name, rows in series(counts, by):
        sizes = rows.set_index("span")["records"].reindex(range(len(edges) - 1), fill_value=0)
        ax.stairs(sizes / edges[1], edges, label=name, fill=by is None, linewidth=1.8)
    ax.set(xlabel=SECONDS, ylabel="records per second", ylim=(0, None))
    thousands(ax.yaxis)
    mark_moments(ax, marks, origin)
    return name_series(ax, by)


def records_per_partition(records: Rows, ax: Axes | None = None) -> Axes:
    """How many records each partition holds. Columns: partition. One row for each record."""
    ax = _axes(ax)
    counts = _counted(records, "partition")
    bars = ax.bar(range(len(counts)), list(counts.values()))
    ax.bar_label(bars, fmt="{:,.0f}", padding=2)
    ax.margins(y=0.12)
    ax.set_xticks(range(len(counts)), [str(partition) for partition in counts])
    ax.set(xlabel="partition", ylabel="records")
    ax.grid(axis="x", visible=False)
    return _thousands(ax)


def files_over_time(files: Rows, ax: Axes | None = None) -> Axes:
    """The segment files of a partition, stacked. Columns: seconds, segment (base offset), bytes.

    One row for each file and moment it was looked at; a file without a row is not there then.
    """
    ax = _axes(ax)
    table = _pandas(files).pivot_table("bytes", "seconds", "segment", aggfunc="last")
    table = table.sort_index().fillna(0)
    names = [f"from offset {segment}" for segment in table.columns]
    colours = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    shades = [colours[place % len(colours)] for place in range(len(names))]
    # A file does not grow between two looks as far as anybody knows: hence the steps.
    layers = ax.stackplot(
        table.index, table.T.to_numpy() / 1000, labels=names, colors=shades, step="post"
    )
    for layer in layers:
        layer.set_edgecolor("white")
    ax.set(xlabel="seconds", ylabel="kilobytes on disk")
    ax.set_xlim(table.index.min(), table.index.max())
    if len(names) <= 12:
        _legend(ax, "segment")
    return ax


def scatter_by_class(
    rows: Rows, x: str, y: str, colour: str, ax: Axes | None = None, *, unit: str = "cm"
) -> Axes:
    """One point for each row at (x, y), in the colour that the row names; a legend counts them.

    Points differ in shape too, for eyes that do not tell the colours apart.
    """
    ax = _axes(ax, size=(7, 4.2))
    table = _pandas(rows)
    shown = {"red": "#D55E00", "blue": "#0072B2", "green": "#009E73"}
    for (name, group), marker in zip(table.groupby(colour, sort=True), "os^Dv*X", strict=False):
        ax.scatter(
            group[x],
            group[y],
            color=shown.get(str(name)),
            marker=marker,
            alpha=0.7,
            label=f"{name} ({len(group)})",
        )
    ax.set(xlabel=f"{x} ({unit})", ylabel=f"{y} ({unit})")
    if len(table):
        _legend(ax, colour)
    return ax


def latency_distribution(latencies: Rows, ax: Axes | None = None, *, by: str = "setting") -> Axes:
    """For each value of `by`, how many of the sends were done after so many milliseconds.

    Columns: latency_ms and `by`. A logarithmic axis: one slow send must not hide all others.
    """
    ax = _axes(ax)
    for name, group in _pandas(latencies).dropna(subset=["latency_ms"]).groupby(by, sort=False):
        values = group["latency_ms"].clip(lower=0.01).sort_values().to_numpy()
        share = [100 * (place + 1) / len(values) for place in range(len(values))]
        half = values[len(values) // 2]
        ax.step(values, share, where="post", label=f"{name}: half within {half:,.2g} ms")
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    ax.set(xlabel="milliseconds until the acknowledgement", ylabel="% of the records")
    _legend(ax)
    return ax


def timeline(
    series: Rows,
    ax: Axes | None = None,
    *,
    value: str = "value",
    by: str = "series",
    unit: str = "records",
    faults: Mapping[str, float] | None = None,
) -> Axes:
    """Values over time, one line for each value of `by`. Columns: seconds, `value`, `by`.

    `faults` are the moments at which something was broken or mended, in the same seconds.
    """
    ax = _axes(ax)
    for name, group in _pandas(series).sort_values("seconds").groupby(by, sort=False):
        ax.step(group["seconds"], group[value], where="post", label=str(name))
    ax.set(xlabel="seconds", ylabel=unit)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    ax.margins(y=0.2)  # room for the names of the faults
    mark_faults(ax, faults or {})
    _legend(ax)
    return _thousands(ax)


def mark_faults(ax: Axes, faults: Mapping[str, float]) -> Axes:
    """A labelled vertical line at each moment, e.g. {"kill broker 1": 3.2}."""
    for row, (name, second) in enumerate(sorted(faults.items(), key=lambda fault: fault[1])):
        ax.axvline(second, color=FAULT, linestyle="--", linewidth=1.2)
        # Each label a little lower, so that faults close together stay readable.
        ax.annotate(
            name,
            (second, 0.97 - 0.09 * (row % 5)),
            xycoords=("data", "axes fraction"),
            xytext=(4, 0),
            textcoords="offset points",
            color=FAULT,
            va="top",
            fontsize=10,
        )
    return ax


def offsets_line(
    end: int, committed: Mapping[str, int], start: int = 0, ax: Axes | None = None
) -> Axes:
    """A partition as a row of offsets, with the places of its producer and of each group.

    `end` is the offset of the next record; a group stands at the offset it reads next.
    """
    ax = _axes(ax, size=(8, 2.2))
    for offset in range(start, end + 1):
        written = offset < end
        ax.barh(
            0, 0.92, left=offset + 0.04, height=0.8,
            color="#CFE3F1" if written else "white", edgecolor="#0072B2",
            linestyle="-" if written else ":",
        )  # fmt: skip
        if end - start <= 30:
            ax.text(offset + 0.5, 0, str(offset), ha="center", va="center")
    places: dict[int, list[str]] = {}
    for name, offset in committed.items():
        places.setdefault(offset, []).append(name)
    arrow = {"arrowstyle": "-|>", "color": "0.3"}
    for offset, names in places.items():
        ax.annotate(
            "group " + ", ".join(names) + " reads next",
            (offset + 0.5, -0.42), (offset + 0.5, -1.2), arrowprops=arrow, ha="center", va="top",
        )  # fmt: skip
    ax.annotate(
        "producer writes next",
        (end + 0.5, 0.42), (end + 0.5, 1.15), arrowprops=arrow, ha="right", va="bottom",
    )  # fmt: skip
    ax.set(xlim=(start - 0.3, end + 1.3), ylim=(-1.9, 1.7), xlabel="offset")
    ax.set_yticks([])
    ax.set_xticks([])
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    return ax


def _axes(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    if ax is not None:
        return ax
    plt.style.use(STYLE)
    return plt.subplots(figsize=size)[1]


def _pandas(rows: Rows) -> pandas.DataFrame:
    return rows.toPandas() if hasattr(rows, "toPandas") else rows


def _binned(records: Rows) -> tuple[list[float], list[int], float]:
    """Left edges in seconds, counts and the width of the bars."""
    if not hasattr(records, "toPandas"):
        moments = records["timestamp"].map(lambda moment: moment.timestamp())
        first, last = moments.min(), moments.max()
        width = max(last - first, 0.001) / BINS
        places = ((moments - first) / width).astype(int).clip(upper=BINS - 1)
        counts = places.value_counts().to_dict()
    else:
        from pyspark.sql import functions as F

        moments = records.select(F.col("timestamp").cast("double").alias("moment"))
        ends = moments.agg(F.min("moment"), F.max("moment")).first()
        first, last = ends if ends[0] is not None else (0.0, 0.0)
        width = max(last - first, 0.001) / BINS
        place = F.least(F.floor((F.col("moment") - first) / width), F.lit(BINS - 1))
        rows = moments.groupBy(place.cast("int").alias("place")).count().collect()
        counts = {row["place"]: row["count"] for row in rows}
    places = sorted(counts)
    return [place * width for place in places], [counts[place] for place in places], width


def _counted(records: Rows, column: str) -> dict[Any, int]:
    if hasattr(records, "toPandas"):
        counts = {row[column]: row["count"] for row in records.groupBy(column).count().collect()}
    else:
        counts = records[column].value_counts().to_dict()
    return dict(sorted(counts.items()))


def _legend(ax: Axes, title: str = "") -> None:
    # Beside the drawing: inside it would lie on the data sooner or later.
    ax.legend(title=title or None, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def _thousands(ax: Axes) -> Axes:
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    return ax
