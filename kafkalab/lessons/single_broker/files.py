"""The segment files of one partition, looked at again and again, and drawn over time."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from kafkalab.draw.drawing import (
    SINCE_FIRST,
    Moment,
    mark_moments,
    nothing,
    rows_of,
    seconds_since,
)

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster
    from kafkalab.draw.drawing import Frame

# Lighter than the style's, for black names; neighbours differ in lightness too.
FILES = ("#9CC9E8", "#F3CE7F", "#8FCFB6", "#E9C3D8")


PAUSE = 0.5  # seconds


class Looks:
    """What was seen of the log of a topic's only partition, and when; `marks` of what was done.

    The clock leaves out what passes between the last look and a mark: there a page is read.
    """

    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._cluster = cluster
        self._topic = topic
        self._began = clock.monotonic()
        self._seen: list[tuple[float, int, int]] = []
        self.marks: dict[str, float] = {}

    def look(self) -> int:
        """Note the size of each segment; the first offset that can still be read."""
        start = self._cluster.topic(self._topic).partitions[0].start_offset
        assert start is not None  # a partition with a leader has one
        now = clock.monotonic() - self._began
        # Afterwards: a broker takes files away first, and then says so.
        for segment in self._cluster.segments(self._topic, 0):
            self._seen.append((now, segment.base_offset, segment.files["log"]))
        return start

    def mark(self, words: str) -> None:
        """Something is done now, which the chart is to tell."""
        now = clock.monotonic() - self._began
        last = self._seen[-1][0] if self._seen else now
        self._began += max(0.0, now - last - PAUSE)
        self.marks.setdefault(words, min(now, last + PAUSE))  # a second run does nothing new

    def frame(self) -> pd.DataFrame:
        """One row for each segment at each look."""
        return pd.DataFrame(self._seen, columns=["seconds", "segment", "bytes"])


def files_over_time(
    frame: Frame,
    ax: Axes | None = None,
    *,
    time: str = "seconds",
    file: str = "segment",
    size: str = "bytes",
    marks: Mapping[str, Moment] | None = None,
) -> Axes:
    """The bytes of each segment file, one upon the other: a file grows, is closed, is deleted.

    One row is one look at one file. A file without a row at a time at which others were seen is
    taken as deleted. Between two looks nothing is known, hence the steps.
    """
    ax = ax or plt.subplots()[1]
    ax.set(xlabel=SINCE_FIRST.format("look"), ylabel=f"bytes in the log, by {file}")
    looks = rows_of(frame, [time, file, size])
    if looks.empty:
        return nothing(ax)
    looks["x"], origin = seconds_since(looks[time])
    table = looks.pivot_table(index="x", columns=file, values=size, aggfunc="last").fillna(0)
    # What the last look saw is given some width.
    table.loc[table.index[-1] + 0.06 * (table.index[-1] or 1.0)] = table.iloc[-1]
    shades = [FILES[number % len(FILES)] for number in range(table.shape[1])]
    ax.stackplot(table.index, table.T, step="post", colors=shades, edgecolor="white")
    tops = table.cumsum(axis=1)
    for name in table.columns:
        # A band that is too low has no room for its name.
        if table[name].max() > tops.to_numpy().max() / 15:
            x, y = _middle(table[name], tops[name] - table[name])
            ax.text(x, y, name, ha="center", va="center", fontsize=10)
    ax.set_ylim(0)
    ax.yaxis.set_major_formatter(EngFormatter("B"))
    mark_moments(ax, marks, origin)
    return ax


def _middle(heights: pd.Series, floors: pd.Series) -> tuple[float, float]:
    """The middle of a band where it is high and lies still for longest: the place for its name."""
    looks = pd.DataFrame({"height": heights, "floor": floors, "from": heights.index})
    looks["to"] = looks["from"].shift(-1, fill_value=looks["from"].iloc[-1])
    looks["rest"] = (looks["floor"].diff() != 0).cumsum()
    high = looks[looks["height"] > heights.max() * 0.7]
    rests = high.groupby("rest").agg({"from": "min", "to": "max", "floor": "min", "height": "min"})
    best = rests.loc[(rests["to"] - rests["from"]).idxmax()]
    return (best["from"] + best["to"]) / 2, best["floor"] + best["height"] / 2
