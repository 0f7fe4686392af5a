"""The inside of a producer: buffers, the thread that sends, and what is under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from kafkalab.draw.diagrams.canvas import ADDED, GIVEN, QUIET, box, canvas
from kafkalab.draw.drawing import PLATE

if TYPE_CHECKING:
    from kafkalab.lessons.batches.buffers import Buffer, HeldBatch

SHOWN = 4  # batches of a buffer; more would be too small to read
WIDTH, HEIGHT = 0.86, 0.56
SENDING, LABELS, QUEUE, THREAD, UNDER_WAY, BROKERS = 0.0, 1.1, 2.4, 6.4, 7.55, 9.0


def inside(held: Sequence[Buffer], batch_size: int) -> Axes:
    """The way of a record from left to right; each batch with its records and how full it is.

    A buffer fills from the left, and its oldest batch stands at the right, next to be sent.
    """
    rows = len(held)
    ax = canvas(width=10, height=rows + 0.9, size=(9.5, 1.1 + 0.62 * rows))
    box(ax, SENDING, 0, 0.95, rows - 0.12, GIVEN)
    ax.text(SENDING + 0.475, rows / 2 - 0.06, "send()", ha="center", va="center", color=GIVEN)
    ax.add_patch(Rectangle((THREAD, 0), 0.95, rows - 0.12, facecolor="white"))
    box(ax, THREAD, 0, 0.95, rows - 0.12, ADDED)
    middle = rows / 2 - 0.06
    ax.text(THREAD + 0.475, middle, "producer's\nthread", ha="center", va="center", color=ADDED)
    heads = {SENDING: "your thread", QUEUE: "waiting", UNDER_WAY: "under way", BROKERS: "leader"}
    for left, words in heads.items():
        ax.text(left, rows + 0.2, words, va="bottom", color="0.3")
    for row, buffer in enumerate(held):
        bottom = rows - 1 - row + 0.16
        middle = bottom + HEIGHT / 2
        ax.plot([SENDING + 0.95, BROKERS], [middle, middle], color=QUIET, lw=1, ls="-", zorder=0)
        label = f"partition {buffer.partition}"
        ax.text(LABELS, middle, label, va="center", fontsize=10, color="0.3", bbox=PLATE)
        _queue(ax, buffer.waiting, bottom, batch_size)
        if buffer.in_flight:
            _batch(ax, buffer.in_flight[0], UNDER_WAY, bottom, batch_size, ADDED)
        if len(buffer.in_flight) > 1:
            more = f"+ {len(buffer.in_flight) - 1}"
            ax.text(UNDER_WAY + WIDTH + 0.1, middle, more, va="center", bbox=PLATE)
        box(ax, BROKERS, bottom, 0.95, HEIGHT, QUIET)
        leader = "none" if buffer.leader in (None, -1) else f"broker {buffer.leader}"
        ax.text(BROKERS + 0.475, middle, leader, ha="center", va="center")
    return ax


def _queue(ax: Axes, waiting: Sequence[HeldBatch], bottom: float, batch_size: int) -> None:
    for place, batch in enumerate(waiting[:SHOWN]):
        _batch(ax, batch, QUEUE + (SHOWN - 1 - place) * 0.98, bottom, batch_size, GIVEN)
    if len(waiting) > SHOWN:
        more = f"{len(waiting) - SHOWN} +"
        ax.text(QUEUE - 0.08, bottom + HEIGHT / 2, more, ha="right", va="center", bbox=PLATE)


def _batch(
    ax: Axes, batch: HeldBatch, left: float, bottom: float, batch_size: int, colour: str
) -> None:
    """A frame for the room that a batch has, filled as far as it is used."""
    full = min(batch.bytes / batch_size, 1.0) if batch_size else 1.0
    place = (left, bottom)
    ax.add_patch(Rectangle(place, WIDTH, HEIGHT, facecolor="white", edgecolor=colour))
    ax.add_patch(Rectangle(place, WIDTH * full, HEIGHT, facecolor=(colour, 0.3), edgecolor="none"))
    ax.text(left + WIDTH / 2, bottom + HEIGHT / 2, f"{batch.records}", ha="center", va="center")
