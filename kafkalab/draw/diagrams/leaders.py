"""Which broker leads which partition, and how a client comes to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from kafkalab.draw.diagrams.canvas import ADDED, GIVEN, QUIET, box, canvas

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

CLIENT = 0.8  # the width of its box
TOP = 1.15  # of a broker's box


def brokers(
    cluster: Cluster, topic: str, *, asked: int | None = None, kept: int | None = None
) -> Axes:
    """Every broker with the partitions that it leads, and a client above them.

    One arrow goes to the broker that it asked, the other to the leader of the partition that kept
    its record.
    """
    partitions = cluster.topic(topic).partitions
    leaders = {one.partition: one.leader for one in partitions}
    ax = canvas(width=len(cluster.brokers), height=2.75, size=(8, 3.6))
    for place, broker in enumerate(cluster.brokers):
        box(ax, place, 0, 0.9, TOP, QUIET)
        ax.text(place + 0.45, 1.05, f"broker {broker}", ha="center", va="top")
        led = [partition for partition, leader in leaders.items() if leader == broker]
        for row, partition in enumerate(led):
            bottom = 0.5 - 0.34 * row
            box(ax, place + 0.08, bottom, 0.74, 0.26, GIVEN if partition == kept else QUIET)
            ax.text(place + 0.45, bottom + 0.13, f"partition {partition}", ha="center", va="center")
    middle = len(cluster.brokers) / 2 - 0.05
    box(ax, middle - CLIENT / 2, 2.3, CLIENT, 0.4, QUIET)
    ax.text(middle, 2.5, "client", ha="center", va="center")
    arrows = []
    if asked is not None:
        end = cluster.brokers.index(asked) + 0.35
        arrows.append((end, "1. who is in the cluster?", ADDED))
    leader = None if kept is None else leaders[kept]
    if leader is not None:
        arrows.append((cluster.brokers.index(leader) + 0.55, "2. the record", GIVEN))
    # The left one starts on the left, so they do not cross.
    for start, (end, words, colour) in zip((-0.25, 0.25), sorted(arrows), strict=False):
        _arrow(ax, words, (middle + start, 2.28), end, colour)
    return ax


def _arrow(ax: Axes, words: str, start: tuple[float, float], end: float, colour: str) -> None:
    """From the client down to a broker, its words in the middle of it."""
    ax.annotate("", (end, TOP + 0.02), start, arrowprops={"arrowstyle": "-|>", "color": colour})
    ax.text(
        (start[0] + end) / 2,
        (start[1] + TOP) / 2,
        words,
        ha="center",
        va="center",
        color=colour,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )
