"""Lesson replication: what several faults did to the same topic, on one clock, and a way back.

The chart shows who led, who was in sync, who waited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from kafkalab import quick
from kafkalab.draw.drawing import MARK, PLATE, nothing, rows_of
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster
    from kafkalab.cluster.views import TopicView
    from kafkalab.draw.drawing import Frame

LEADERS = ("#9CC9E8", "#F3CE7F", "#8FCFB6", "#E9C3D8")
GAP = "#D55E00"


def as_before(cluster: Cluster, before: TopicView) -> None:
    """Bring all brokers back, and each partition of the topic to the leader that it had before.

    For a cell that stops a leader: run again, it finds one to stop. WaitTimeout after 15 seconds.
    """
    from kafka import KafkaAdminClient

    cluster.mend()
    cluster.wait_for_isr(before.name, len(before.partitions[0].replicas))
    wanted = [one.leader for one in before.partitions]
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:

        def led() -> bool:
            # The preferred ones; refused while one of them leads already.
            admin.elect_leaders(0, [before.name], raise_errors=False)
            return [one.leader for one in cluster.topic(before.name).partitions] == wanted

        wait_until(led, timeout=15, what="the leaders of before")


def failover(looks: Frame, waits: Frame) -> Axes:
    """A row for each fault, in the order of `waits`: the leader map, and beside it the ISR.

    `looks` has the columns of `kafkalab.Watch`. `waits` has, for each name in `during`, the seconds
    `sent` and `acknowledged` of the record that waited longest.
    """
    rows = rows_of(looks, ["during", "seconds", "partition", "leader", "in_sync"])
    spans = rows_of(waits, ["during", "sent", "acknowledged"])
    count = max(len(spans), 1)
    figure, axes = plt.subplots(
        count,
        2,
        figsize=(9, 1.1 * count + 1.2),
        squeeze=False,
        sharex=True,
        width_ratios=(3, 1),
    )
    if rows.empty or spans.empty:
        return nothing(axes[0, 0])
    leaders = sorted(rows["leader"].dropna().astype(int).unique())
    shades = {one: LEADERS[place % len(LEADERS)] for place, one in enumerate(leaders)}
    for (left, right), span in zip(axes, spans.itertuples(), strict=True):
        seen = rows[rows["during"] == span.during]
        _map(left, seen, shades)
        left.set_ylabel(f"{span.during}\npartition")
        _wait(left, span.sent, span.acknowledged, spans["acknowledged"].max())
        sizes = seen.groupby("seconds")["in_sync"].mean()
        right.step(sizes.index, sizes, where="post")
        right.set(ylim=(0, rows["in_sync"].max() + 0.4))
        right.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0, 1].set_title("in sync", fontsize=11, weight="normal")
    for bottom in axes[-1]:
        bottom.set_xlabel("seconds since the fault")
    keys = [Patch(color=shades[one], label=f"broker {one} is named leader") for one in leaders]
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))
    return axes[0, 0]


def _map(ax: Axes, seen: pd.DataFrame, shades: dict[int, str]) -> None:
    """A strip for each partition, in the shade of the leader that was named; white where none."""
    end = seen["seconds"].max()
    for partition, looks in seen.sort_values("seconds").groupby("partition"):
        change = looks["leader"].fillna(-1).diff() != 0
        starts = looks[change]
        stops = [*starts["seconds"].iloc[1:], end]
        strips = [
            (start, stop - start, shades[int(leader)])
            for start, stop, leader in zip(starts["seconds"], stops, starts["leader"], strict=True)
            if pd.notna(leader)
        ]
        places = [(start, length) for start, length, _ in strips]
        shade = [colour for *_, colour in strips]
        ax.broken_barh(places, (partition - 0.45, 0.9), facecolors=shade)
    ax.set_ylim(seen["partition"].max() + 0.6, -0.6)
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.grid(visible=False)


def _wait(ax: Axes, sent: float, acknowledged: float, longest: float) -> None:
    """A frame from the send to the acknowledgement, its words on the side where there is room."""
    low, _ = ax.get_ylim()
    ax.axvspan(sent, acknowledged, facecolor="none", edgecolor=GAP, linewidth=1.4)
    inside = acknowledged > longest * 0.7
    ax.annotate(
        f"longest wait {acknowledged - sent:.1f} s",
        (acknowledged, low / 2),
        (-6 if inside else 6, 0),
        textcoords="offset points",
        ha="right" if inside else "left",
        va="center",
        color=MARK,
        bbox=PLATE,
    )
