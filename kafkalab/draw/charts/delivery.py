"""Lost and extra records: how runs of producers and consumers ended, on one scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from kafkalab.draw.charts.common import COLOURS
from kafkalab.draw.drawing import nothing, rows_of

if TYPE_CHECKING:
    from kafkalab.draw.drawing import Frame

# What is counted -> to which side its bars go, and in which colour.
SIDES = {"lost": (-1, COLOURS["red"]), "extra": (1, COLOURS["blue"])}
TEXT = "#333333"
ROW, GAP = 0.25, 0.45  # inches, and the share of a row that parts two tasks
ROOM = 0.03  # of the scale: what the number of a partition needs


def lost_and_extra(
    frame: Frame, tasks: Mapping[str, Mapping[str, str]], ax: Axes | None = None
) -> Axes:
    """A row for each run: lost records to the left, extra ones to the right, on one scale.

    A row of the frame is a partition of a run: `run`, `partition`, `sent`, `lost`, `extra`. Lengths
    are percent of what the run sent. A bar is put together of its partitions, and each bears its
    number where there is room. `tasks`: a heading, the runs under it, and what each row is called.
    """
    rows = rows_of(frame, ["run", "partition", "sent", *SIDES]).sort_values("partition")
    places = _places(tasks)
    if ax is None:
        height = ROW * (len(places) + GAP * len(tasks))
        ax = plt.subplots(figsize=(7.5, 1.2 + height))[1]
    if rows.empty or not places:
        return nothing(ax)
    sums = rows.groupby("run")[["sent", *SIDES]].sum().reindex(list(places), fill_value=0)
    share = sums[[*SIDES]].mul(100 / sums["sent"].clip(lower=1), axis="index")
    least, most = -max(share["lost"].max(), 10), max(share["extra"].max(), 10)
    room = ROOM * (most - least)
    for run, place in places.items():
        parts = rows[rows["run"] == run]
        for what, (side, colour) in SIDES.items():
            end = 0.0
            for partition, count in zip(parts["partition"], parts[what], strict=True):
                if not count:
                    continue
                part = side * 100 * count / max(sums["sent"][run], 1)
                ax.barh(place, part, 0.8, left=end, color=colour)
                if end and abs(part) > room / 2:
                    ax.vlines(end, place - 0.4, place + 0.4, color="white", linewidth=0.9)
                if abs(part) > room:
                    _say(ax, f"{partition}", end + part / 2, place, 0, "white")
                end += part
            if end:
                _say(ax, f"{sums[what][run]:,}", end, place, side, colour)
        if not sums.loc[run, [*SIDES]].any():
            # Nothing is a finding too, and has no bar to be seen by.
            _say(ax, "0" if sums["sent"][run] else "not run", 0, place, 1, TEXT)
    _name_rows(ax, tasks, places)
    ax.set(xlim=(least - 3 * room, most + 3 * room), ylim=(max(places.values()) + 0.7, -1.6))
    ax.xaxis.set_major_formatter(lambda x, _: f"{abs(x):g} %")
    ax.set_xlabel(
        "share of what the run had acknowledged\n(in the bars: numbers of the partitions)"
    )
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)
    ax.axvline(0, color=TEXT, linewidth=0.9)
    for what, (side, colour) in SIDES.items():
        word = f"← {what}" if side < 0 else f"{what} →"
        ax.annotate(
            word,
            (0, -1),
            (6 * side, 0),
            textcoords="offset points",
            ha="right" if side < 0 else "left",
            va="center",
            weight="bold",
            color=colour,
        )
    return ax


def _places(tasks: Mapping[str, Mapping[str, str]]) -> dict[str, float]:
    """Where the row of each run is: a step below the last, and more where a task begins."""
    places, place = {}, 0.0
    for runs in tasks.values():
        for run in runs:
            places[run] = place
            place += 1
        place += GAP
    return places


def _name_rows(
    ax: Axes, tasks: Mapping[str, Mapping[str, str]], places: Mapping[str, float]
) -> None:
    names = [name for runs in tasks.values() for name in runs.values()]
    ax.set_yticks(list(places.values()), names)
    ax.tick_params(axis="y", length=0)
    for heading, runs in tasks.items():
        ax.annotate(
            heading,
            (0, places[next(iter(runs))]),
            (-155, 0),
            ("axes fraction", "data"),
            "offset points",
            va="center",
            weight="bold",
            color=TEXT,
        )


def _say(ax: Axes, words: str, x: float, y: float, side: int, colour: str) -> None:
    """Words beside a place, on one side of it or in its middle."""
    ax.annotate(
        words,
        (x, y),
        (4 * side, 0),
        textcoords="offset points",
        ha={-1: "right", 0: "center", 1: "left"}[side],
        va="center",
        color=colour,
        fontsize=9.5,
    )
