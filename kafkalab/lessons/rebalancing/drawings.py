"""Drawings of what stood still: each record a stroke, and the longest silences side by side."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from kafkalab.draw.drawing import MARK
from kafkalab.draw.picture import show
from kafkalab.lessons.rebalancing.change import GroupChange
from kafkalab.members.events import NANOSECONDS

# Blue, vermilion, green and purple of the course's pictures, then orange and sky blue.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# Of groups: none of a member's, since both are on one page.
GROUP_COLOURS = ("#E69F00", "#56B4E9", "#4D4D4D")


def records_by_partition(change: GroupChange, groups: Sequence[str]) -> Axes:
    """A panel for each group, a row for each partition, a stroke for each record.

    The strokes have the colour of the reader: who stops reading leaves a gap.
    """
    figure, panels = plt.subplots(
        len(groups), 1, figsize=(8, 0.9 + 1.9 * len(groups)), sharex=True, squeeze=False
    )
    names = sorted({one.member for group in groups for one in change.records[group]})
    colours = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}
    for ax, group in zip(panels[:, 0], groups, strict=True):
        for partition in sorted(change.before[group]):
            for name in names:
                at = [
                    (one.at - change.began) / NANOSECONDS
                    for one in change.of(group, partition)
                    if one.member == name
                ]
                ax.eventplot(
                    at, lineoffsets=partition, linelengths=0.7, linewidths=1.2, colors=colours[name]
                )
        ax.set_yticks(sorted(change.before[group]))
        ax.set_ylim(len(change.before[group]) - 0.5, -0.5)
        ax.set_ylabel(f"{group}\npartition")
        ax.grid(axis="y", visible=False)
        for name, newcomer in change.started[group].items():
            seconds = (newcomer - change.began) / NANOSECONDS
            ax.axvline(seconds, color=MARK, linewidth=1, linestyle=(0, (3, 2)))
            ax.set_ylim(top=-1.5)
            ax.text(seconds, -0.95, f" {name}'s program starts", color=MARK, va="center")
    panels[-1, 0].set_xlabel("seconds since the long order was sent")
    panels[-1, 0].set_xlim(-0.1, (change.ended - change.began) / NANOSECONDS)
    keys = [Line2D([], [], color=colours[name], linewidth=5, label=name) for name in names]
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))
    return panels[0, 0]


def show_standing(change: GroupChange, group: str, stand: Sequence[int]) -> None:
    """The records of one group; the title says how many of the free packers' partitions stand."""
    free = len(change.before[group]) - len(change.of_busy(group))
    longest = change.longest(group, stand)
    title = f"{group.capitalize()}: {len(stand)} of {free} partitions of free packers stand"
    title += f", for up to {longest:.1f} s" if stand else ""
    ax = records_by_partition(change, [group])
    ax.set_title(title)
    show(ax, f"{title}. A stroke for each record. These stand: {[*stand]}.")


def standstills(changes: Sequence[GroupChange]) -> pandas.DataFrame:
    """For each change and group the longest silence of a partition that was kept, and of a moved.

    Without those of busy readers, whose work alone stops them. NaN where there was none.
    """
    rows = []
    for change in changes:
        for group in change.before:
            kept = change.longest(group, change.kept(group))
            given = set(change.moved(group)) - set(change.of_busy(group))
            moved = change.longest(group, given)
            rows.append({"change": change.what, "group": group, "kept": kept, "moved": moved})
    return pandas.DataFrame(rows)


def show_standstills(frame: pandas.DataFrame, session: float, good_bye: str) -> None:
    """The same drawn; the title has what moved after the good-bye beside what moved otherwise."""
    said = frame["change"] == good_bye
    left, silent = frame[said]["moved"].max(), frame[~said]["moved"].min()
    title = f"Good-byes cost up to {left:.1f} s, deaths and freezes {silent:.1f} s or more"
    ax = standstill_by_group(frame, session)
    ax.set_title(title)
    show(ax, f"{title}. {frame.round(1).to_string(index=False)}")


def standstill_by_group(frame: pandas.DataFrame, session: float) -> Axes:
    """A row for each group in each change: a ring for what was kept, a dot for what moved."""
    groups = list(dict.fromkeys(frame["group"]))
    changes = list(dict.fromkeys(frame["change"]))
    _, ax = plt.subplots(figsize=(8, 0.9 + 0.3 * len(frame)))
    ticks, labels, row = [], [], 0.0
    for change in changes:
        top = row
        for group in groups:
            (one,) = frame[(frame["change"] == change) & (frame["group"] == group)].itertuples()
            colour = GROUP_COLOURS[groups.index(group)]
            ax.plot([one.kept, one.moved], [row, row], color=colour, linewidth=1, linestyle="-")
            ax.plot(one.moved, row, "o", color=colour, markersize=6)
            ax.plot(one.kept, row, "o", color=colour, markersize=10, markerfacecolor="none")
            if pandas.isna(one.moved):
                ax.text(one.kept, row, "    nobody free gave", color=MARK, va="center")
            row += 1
        ticks.append((top + row - 1) / 2)
        labels.append(change)
        row += 0.7
    ax.axvline(session, color=MARK, linestyle=(0, (3, 2)), linewidth=1)
    ax.text(session, -0.9, " session", color=MARK, va="center")
    ax.set_yticks(ticks, labels)
    ax.set(ylim=(row - 0.7 + 0.3, -1.4), xlabel="longest time without a record, in seconds")
    ax.set_xlim(0, None)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    keys = [
        Line2D([], [], color=GROUP_COLOURS[number], linewidth=5, label=group)
        for number, group in enumerate(groups)
    ]
    for label, inside, size in (("same reader", "none", 10), ("moved", MARK, 6)):
        dot = Line2D([], [], color=MARK, marker="o", markersize=size, linestyle="", label=label)
        dot.set_markerfacecolor(inside)
        keys.append(dot)
    ax.figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))
    return ax
