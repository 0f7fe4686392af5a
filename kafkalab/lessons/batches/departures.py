"""When records were sent, and when the batches left that carry them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

if TYPE_CHECKING:
    from kafkalab.cluster.segments import Batch

BY_SIZE, BY_TIME = "C1", "C0"


def departures(
    sent: Mapping[int, float], batches: Sequence[Batch], left: Sequence[float], batch_size: int
) -> Axes:
    """A tick for each record, and below it a bar for each batch, from its first record on.

    `sent` is offset -> the time of `send`; `left` the time at which each batch left, in their
    order. A batch without room for another record of its kind left because it was full.
    """
    start = min(sent.values())
    ax = plt.subplots(figsize=(9, 1.6 + 0.32 * len(batches)))[1]
    ticks = [(moment - start) * 1000 for moment in sent.values()]
    ax.eventplot(ticks, lineoffsets=0, linelengths=0.7, colors="0.2", linewidths=1)
    end = (max(left) - start) * 1000
    for row, (batch, moment) in enumerate(zip(batches, left, strict=True), 1):
        first = (sent[batch.base_offset] - start) * 1000
        gone = (moment - start) * 1000
        full = batch.bytes + batch.bytes / batch.records > batch_size
        colour = BY_SIZE if full else BY_TIME
        ax.barh(-row, max(gone - first, end / 250), left=first, height=0.6, color=colour)
        count = f"{batch.records} record" + ("s" if batch.records != 1 else "")
        words = f"{count}, {'full' if full else 'time was up'}, left after {gone - first:,.0f} ms"
        # On the side where there is room.
        right = first + (gone - first) / 2 < end / 2
        place = gone + end / 100 if right else first - end / 100
        ax.text(place, -row, words, ha="left" if right else "right", va="center", fontsize=10)
    ax.set(xlabel="milliseconds since the first send", yticks=[], ylim=(-len(batches) - 0.7, 0.7))
    ax.set_yticks([0, -(len(batches) + 1) / 2], ["sent", "batches"])
    ax.grid(axis="y", visible=False)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return ax
