"""Drawings: who worked on which record and when, and how often each record was handed out.

Workers import this package, too, so the drawing program is imported where something is drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkalab.lessons.share_groups.crew import Turn, by_worker, overtakers, seconds_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MARK = "#666666"
FIRST, OTHER = "#D55E00", "#9CC9E8"
ALONE, TOGETHER = "#555555", "#0072B2"


def show_both(
    in_line: Sequence[Turn],
    shared: Sequence[Turn],
    loners: Collection[str],
    sharers: Collection[str],
) -> None:
    """The work of a consumer group and of a share group; the title says who was at work how long.

    `loners` and `sharers` are all their members, also those without work.
    """
    from kafkalab.draw.picture import show

    told = [
        f"{seconds_of(work):.1f} s, {len(by_worker(work))} at work" for work in (in_line, shared)
    ]
    title = f"Consumer group: {told[0]}. Share group: {told[1]}"
    ax = work_over_time([*in_line, *shared], {"consumer group": loners, "share group": sharers})
    ax.set_title(title)
    first = f"Film 0 keeps one sharer busy; {overtakers(shared)} others are done meanwhile"
    show(ax, f"{title}. {first}.")


def work_over_time(
    work: Sequence[Turn], crews: Mapping[str, Iterable[str]], label: str = "film"
) -> Axes:
    """A row for each worker of each crew, a bar for each turn, with the number of the film in it.

    Film 0 is that of the lowest offset, and stands out. By the label `tries` the bars hold the
    number of the delivery instead, and lines say when each was begun. A worker without work has a
    row, too.
    """
    import matplotlib.pyplot as plt

    names = [name for crew in crews.values() for name in crew]
    start = min(turn.began for turn in work)
    end = max(turn.ended or turn.began for turn in work) - start
    lowest = min(turn.offset for turn in work)
    _, ax = plt.subplots(figsize=(8, 1.1 + 0.36 * len(names)), layout="constrained")
    for height, name in enumerate(reversed(names)):
        mine = [turn for turn in work if turn.worker == name]
        if not mine:
            ax.text(end / 100, height, "no record", va="center", fontsize=9, color="#777777")
        for turn in mine:
            left, width = turn.began - start, (turn.ended or start + end) - turn.began
            inside = turn.tries if label == "tries" else turn.offset - lowest
            colour = FIRST if inside == 0 else OTHER
            ax.barh(height, width, left=left, height=0.72, color=colour, edgecolor="white")
            ax.text(
                left + width / 2, height, str(inside),
                ha="center", va="center", fontsize=8, color="white" if colour == FIRST else "black",
            )  # fmt: skip
    if label == "tries":
        for turn in work:
            line = ax.axvline(turn.began - start, color=MARK, linewidth=1.2, linestyle="--")
        line.set_label("a try begins")
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1))
    top = len(names) - 0.5
    for crew, those in crews.items():
        bottom = top - len(list(those))
        ax.text(end, (top + bottom) / 2, crew, ha="right", va="center", fontweight="bold")
        if bottom > 0:
            ax.axhline(bottom, color=MARK, linewidth=0.8)
        top = bottom
    ax.set_yticks(range(len(names)), list(reversed(names)))
    shown = "which delivery it is" if label == "tries" else "which film it is"
    ax.set(
        xlabel=f"seconds since the first was begun (in the bars: {shown})",
        ylim=(-0.6, len(names) - 0.4),
    )
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    return ax


def show_deliveries(
    consumer_group: Mapping[int, int], share_group: Mapping[int, int], bad: int, records: int
) -> None:
    """The deliveries of each record in both; the title tells of the bad one and of the others."""
    from kafkalab.draw.picture import show

    waiting = records - len(consumer_group)
    others = "all others" if len(share_group) == records else f"{len(share_group) - 1} others"
    title = f"Share group: {share_group[bad]} tries, and {others} came. "
    title += f"Consumer group: {waiting} wait"
    ax = deliveries_per_record(consumer_group, share_group, records)
    ax.set_title(title)
    stuck = f"The consumer group got the torn one {consumer_group[bad]} times"
    show(ax, f"{title}. {stuck}.")


def deliveries_per_record(
    consumer_group: Mapping[int, int], share_group: Mapping[int, int], records: int
) -> Axes:
    """Two bars for each record: how often each kind of group handed it out."""
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(8, 3.4))
    series = (("consumer group", consumer_group, ALONE), ("share group", share_group, TOGETHER))
    for number, (name, counts, colour) in enumerate(series):
        places = [offset + (number - 0.5) * 0.4 for offset in range(records)]
        heights = [counts.get(offset, 0) for offset in range(records)]
        bars = ax.bar(places, heights, width=0.38, color=colour, label=name)
        ax.bar_label(bars, fontsize=9)
    ax.set_xticks(range(records))
    ax.set(xlabel="film (its offset)", ylabel="times handed out")
    ax.margins(y=0.12)
    ax.legend(loc="upper right")
    return ax
