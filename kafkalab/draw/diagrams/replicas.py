"""Where the copies of each partition lie: leaders, followers, and those that are behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from kafkalab.draw.diagrams.canvas import GIVEN, QUIET, canvas

if TYPE_CHECKING:
    from kafkalab.cluster.views import PartitionView, TopicView

LEFT = 1.9  # room for the brokers' names


def replicas(views: Mapping[str, TopicView]) -> Axes:
    """One block for each view under its name; a row is a broker, a column is a partition.

    The number in a box is the place of the broker in the partition's list of replicas. A full box
    is the leader, a light one a follower in sync, a dotted one a copy that is not in sync.
    """
    first = next(iter(views.values()))
    brokers = sorted({broker for one in first.partitions for broker in one.replicas})
    block = len(brokers) + 1.9
    step = max(2.6, len(first.partitions) / 3)  # from one word of the key to the next
    width = LEFT + max(len(first.partitions), 3 * step)
    ax = canvas(width, block * len(views) + 0.6, size=(8.2, 0.4 * block * len(views) + 0.6))
    for number, (name, view) in enumerate(views.items()):
        top = block * (len(views) - number)
        ax.text(0, top, name, weight="bold", va="center")
        for one in view.partitions:
            ax.text(LEFT + one.partition + 0.45, top, f"{one.partition}", ha="center", va="center")
        for row, broker in enumerate(brokers):
            bottom = top - 1.4 - row
            ax.text(0, bottom + 0.4, f"broker {broker}", va="center")
            for one in view.partitions:
                _copy(ax, LEFT + one.partition, bottom, one, broker)
    _key(ax, step)
    return ax


def _copy(ax: Axes, left: float, bottom: float, one: PartitionView, broker: int) -> None:
    if broker not in one.replicas:
        return
    leads, in_sync = broker == one.leader, broker in one.isr
    _cell(ax, left, bottom, leads, in_sync)
    place = one.replicas.index(broker) + 1
    ax.text(
        left + 0.45,
        bottom + 0.39,
        f"{place}",
        ha="center",
        va="center",
        color="white" if leads else "black" if in_sync else "0.5",
    )


def _cell(ax: Axes, left: float, bottom: float, leads: bool, in_sync: bool) -> None:
    ax.add_patch(
        Rectangle(
            (left, bottom),
            0.9,
            0.8,
            facecolor=GIVEN if leads else (GIVEN, 0.15) if in_sync else "white",
            edgecolor=GIVEN if in_sync else QUIET,
            linestyle="-" if in_sync else ":",
        )
    )


def _key(ax: Axes, step: float) -> None:
    meanings = (("leader", True, True), ("in sync", False, True), ("not in sync", False, False))
    for place, (words, leads, in_sync) in enumerate(meanings):
        left = LEFT + step * place
        _cell(ax, left, 0, leads, in_sync)
        ax.text(left + 1.1, 0.4, words, va="center")
