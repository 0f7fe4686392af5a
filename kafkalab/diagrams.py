"""Pictures of structure, drawn from what is there: a record, and where a cluster keeps it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord

    from kafkalab.cluster import Cluster

GIVEN, ADDED, QUIET = "C0", "C1", "0.75"


def record(one: ConsumerRecord) -> Axes:
    """A record as a row of fields: those its sender gave, then those that came on the way."""
    fields = [
        ("key", _text(one.key), GIVEN),
        ("value", _text(one.value), GIVEN),
        ("headers", ", ".join(f"{name}={_text(value)}" for name, value in one.headers), GIVEN),
        ("timestamp", _clock(one.timestamp), ADDED),
        ("partition", str(one.partition), ADDED),
        ("offset", str(one.offset), ADDED),
    ]
    ax = _canvas(width=len(fields), height=1, size=(9, 1.9))
    for place, (name, text, colour) in enumerate(fields):
        _box(ax, place, 0, 0.94, 0.62, colour)
        ax.text(place + 0.47, 0.31, text or "none", ha="center", va="center")
        ax.text(place + 0.47, 0.72, name, ha="center", va="bottom", color=colour)
    return ax


def brokers(
    cluster: Cluster, topic: str, *, asked: int | None = None, kept: int | None = None
) -> Axes:
    """Every broker with the partitions that it leads; the one that was asked; a partition."""
    partitions = cluster.topic(topic).partitions
    ax = _canvas(width=len(cluster.brokers), height=2, size=(8, 2.8))
    for place, broker in enumerate(cluster.brokers):
        _box(ax, place, 0, 0.9, 1.15, QUIET)
        ax.text(place + 0.45, 1.05, f"broker {broker}", ha="center", va="top")
        led = [one.partition for one in partitions if one.leader == broker]
        for row, partition in enumerate(led):
            bottom = 0.5 - 0.34 * row
            _box(ax, place + 0.08, bottom, 0.74, 0.26, GIVEN if partition == kept else QUIET)
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


def _canvas(width: float, height: float, size: tuple[float, float]) -> Axes:
    _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set_xlim(-0.05, width)
    ax.set_ylim(-0.05, height)
    ax.set_axis_off()
    return ax


def _box(ax: Axes, left: float, bottom: float, width: float, height: float, colour: str) -> None:
    ax.add_patch(
        FancyBboxPatch(
            (left, bottom),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.04",
            facecolor=(colour, 0.15),
            edgecolor=colour,
        )
    )


def _clock(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%H:%M:%S.%f")[:-3]


def _text(data: bytes | None) -> str:
    return "" if data is None else data.decode(errors="replace")
