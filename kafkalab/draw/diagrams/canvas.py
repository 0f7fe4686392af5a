"""What every diagram is drawn with: an empty canvas, boxes, and bytes and times as text."""

from __future__ import annotations

from datetime import UTC, datetime

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

GIVEN, ADDED, QUIET = "C0", "C1", "0.75"


def canvas(width: float, height: float, size: tuple[float, float]) -> Axes:
    """An empty drawing, `size` in inches, with room for boxes between 0 and width, height."""
    _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set_xlim(-0.05, width)
    ax.set_ylim(-0.05, height)
    ax.set_axis_off()
    return ax


def box(ax: Axes, left: float, bottom: float, width: float, height: float, colour: str) -> None:
    """A rounded box in a light tint of its colour."""
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


def clock(milliseconds: int) -> str:
    """The time of day in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%H:%M:%S.%f")[:-3]


def readable(data: bytes | None) -> str:
    """Bytes as a reader sees them; what is absent is empty."""
    return "" if data is None else data.decode(errors="replace")
