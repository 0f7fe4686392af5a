"""Which broker leads which partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from kafkalab.draw.diagrams.canvas import ADDED, GIVEN, QUIET, box, canvas

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


def brokers(
    cluster: Cluster, topic: str, *, asked: int | None = None, kept: int | None = None
) -> Axes:
    """Every broker with the partitions that it leads; the one that was asked; a partition."""
    partitions = cluster.topic(topic).partitions
    ax = canvas(width=len(cluster.brokers), height=2, size=(8, 2.8))
    for place, broker in enumerate(cluster.brokers):
        box(ax, place, 0, 0.9, 1.15, QUIET)
        ax.text(place + 0.45, 1.05, f"broker {broker}", ha="center", va="top")
        led = [one.partition for one in partitions if one.leader == broker]
        for row, partition in enumerate(led):
            bottom = 0.5 - 0.34 * row
            box(ax, place + 0.08, bottom, 0.74, 0.26, GIVEN if partition == kept else QUIET)
            ax.text(place + 0.45, bottom + 0.13, f"{topic}-{partition}", ha="center", va="center")
        if broker == asked:
            ax.annotate(
                "the one address you gave",
                (place + 0.45, 1.18),
                (place + 0.45, 1.75),
                ha="center",
                arrowprops={"arrowstyle": "-|>", "color": ADDED},
                color=ADDED,
            )
    return ax
