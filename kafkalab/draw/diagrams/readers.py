"""A topic between those who write it and those who read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from kafkalab.draw.diagrams.canvas import GIVEN, QUIET, box, canvas

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

# More boxes than this would be too small for the number in them.
WIDEST = 26
# Blue is the producer's; these differ in lightness too.
READERS = ("C1", "C2", "C3")


def readers(cluster: Cluster, topic: str, groups: Sequence[str]) -> Axes:
    """Each partition as a row of offsets: where the next record goes, what each group reads next.

    Draws the last 26 offsets of a longer partition. A group without a committed offset in a
    partition has no mark there.
    """
    partitions = cluster.topic(topic).partitions
    committed = {group: cluster.group(group).offsets for group in groups}
    ends = [one.end_offset or 0 for one in partitions]
    first = max(0, max(ends) - WIDEST)
    row = 0.75 + 0.3 * len(groups)
    top = row * len(partitions)
    ax = canvas(width=max(ends) - first + 4.2, height=top + 0.1, size=(9, 0.8 + 0.62 * top))
    for one, end in zip(partitions, ends, strict=True):
        bottom = top - row * (one.partition + 1) + 0.3 * len(groups)
        ax.text(0, bottom + 0.25, f"partition {one.partition}", va="center")
        for offset in range(max(first, one.start_offset or 0), end + 1):
            left = 2.2 + offset - first
            written = offset < end
            box(ax, left, bottom, 0.9, 0.5, QUIET if written else GIVEN)
            ax.text(left + 0.45, bottom + 0.25, f"{offset}", ha="center", va="center", fontsize=9)
        _arrow(ax, "producer", 2.2 + end - first, bottom)
        for depth, group in enumerate(groups):
            place = committed[group].get((topic, one.partition))
            if place is not None and place >= first:
                colour = READERS[depth % len(READERS)]
                _mark(ax, f"{group}: {place}", 2.2 + place - first, bottom, depth, colour)
    return ax


def _arrow(ax: Axes, name: str, left: float, bottom: float) -> None:
    """From the right to the box that the next record will fill."""
    ax.annotate(
        name,
        (left + 0.92, bottom + 0.25),
        (left + 1.35, bottom + 0.25),
        va="center",
        color=GIVEN,
        arrowprops={"arrowstyle": "-|>", "color": GIVEN},
    )


def _mark(ax: Axes, text: str, left: float, bottom: float, depth: int, colour: str) -> None:
    """From below to the box that a group reads next; each group has a line of its own."""
    ax.annotate(
        text,
        (left + 0.45, bottom - 0.01),
        (left + 0.45, bottom - 0.3 - 0.3 * depth),
        ha="center",
        va="center",
        fontsize=9,
        color=colour,
        arrowprops={"arrowstyle": "-|>", "color": colour},
    )
