"""The parts of a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from kafkalab.draw.diagrams.canvas import ADDED, GIVEN, box, canvas, clock, readable

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord


def record(one: ConsumerRecord) -> Axes:
    """A record as a row of fields: those its sender gave, then those that came on the way."""
    fields = [
        ("key", readable(one.key), GIVEN),
        ("value", readable(one.value), GIVEN),
        ("headers", ", ".join(f"{name}={readable(value)}" for name, value in one.headers), GIVEN),
        ("timestamp", clock(one.timestamp), ADDED),
        ("partition", str(one.partition), ADDED),
        ("offset", str(one.offset), ADDED),
    ]
    ax = canvas(width=len(fields), height=1, size=(9, 1.9))
    for place, (name, text, colour) in enumerate(fields):
        box(ax, place, 0, 0.94, 0.62, colour)
        ax.text(place + 0.47, 0.31, text or "none", ha="center", va="center")
        ax.text(place + 0.47, 0.72, name, ha="center", va="bottom", color=colour)
    return ax
