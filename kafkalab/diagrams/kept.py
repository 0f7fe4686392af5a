"""What a log keeps: a box for each record, in the order of offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from kafkalab.diagrams.canvas import ADDED, GIVEN, QUIET, box, canvas, readable

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord

    Segment = Sequence[ConsumerRecord]

# Inches: a box, the room between two files, a row, and the words before it.
BOX, APART, ROW, WORDS = 0.68, 0.16, 0.72, 1.75
# Letters that fit into a box.
LETTERS = 7


def compaction(before: Segment, after: Segment) -> Axes:
    """The records of a partition before and after: what is gone leaves its offset empty.

    For a dozen records. One without a value, a tombstone, is drawn in colour.
    """
    return _logs([before], {"before": before, "after": after})


def retention(segments: Sequence[Segment], *, now: int, milliseconds: int, size: int) -> Axes:
    """The same log under four rules: nothing is deleted, or by time, by size, by compaction.

    `segments` are the records of a partition, file by file, a dozen in all; the last file is the
    one that is written to, which no rule touches. Time and size delete whole files, compaction
    single records. `now` is in milliseconds, like a timestamp; a record's size is that of its key
    and value.
    """
    *closed, active = segments
    rules = {
        "nothing deleted": closed,
        f"by time:\n{milliseconds / 1000:,g} s": _young(closed, now - milliseconds),
        f"by size:\n{size:,} bytes": _small(closed, size - _bytes(active)),
        "by compaction": [_newest_of_each_key(closed)],
    }
    kept = {name: [*_records(left), *active] for name, left in rules.items()}
    return _logs(segments, kept)


def _young(closed: Sequence[Segment], oldest: int) -> Sequence[Segment]:
    """From the first file on that holds a record young enough; what lies behind it stays too."""
    while closed and max(record.timestamp for record in closed[0]) < oldest:
        closed = closed[1:]
    return closed


def _small(closed: Sequence[Segment], room: int) -> Sequence[Segment]:
    """A file goes only if what is left still fills the size that was asked for."""
    while closed and _bytes(_records(closed[1:])) >= room:
        closed = closed[1:]
    return closed


def _newest_of_each_key(closed: Sequence[Segment]) -> Segment:
    newest = {record.key: record.offset for record in _records(closed)}
    return [record for record in _records(closed) if newest[record.key] == record.offset]


def _records(segments: Sequence[Segment]) -> list[ConsumerRecord]:
    return [record for segment in segments for record in segment]


def _bytes(segment: Segment) -> int:
    return sum(len(record.key or b"") + len(record.value or b"") for record in segment)


def _logs(segments: Sequence[Segment], rows: Mapping[str, Segment]) -> Axes:
    """One row for each name, with the offsets of all records above."""
    lefts = {
        record.offset: WORDS + place * (BOX + 0.04) + number * APART
        for place, (number, record) in enumerate(
            (number, record) for number, segment in enumerate(segments) for record in segment
        )
    }
    high = ROW * len(rows)
    wide = max(lefts.values(), default=WORDS) + BOX
    ax = canvas(wide + 0.05, high + 0.3, (wide + 0.3, high + 0.9))
    ax.text(0, high + 0.1, "offset", va="center", fontsize=9)
    for offset, left in lefts.items():
        ax.text(left + BOX / 2, high + 0.1, f"{offset}", ha="center", va="center", fontsize=9)
    for number, (name, kept) in enumerate(rows.items()):
        bottom = high - ROW * (number + 1) + 0.1
        middle = bottom + (ROW - 0.16) / 2
        ax.text(0, middle, name, va="center", fontsize=10)
        here = {record.offset: record for record in kept}
        for offset, left in lefts.items():
            if offset in here:
                _record(ax, here[offset], left, bottom, middle)
            else:
                _gone(ax, left, bottom)
    return ax


def _record(ax: Axes, record: ConsumerRecord, left: float, bottom: float, middle: float) -> None:
    tombstone = record.value is None
    box(ax, left, bottom, BOX, ROW - 0.16, ADDED if tombstone else GIVEN)
    words = f"{_short(readable(record.key))}\n{_short(readable(record.value)) or 'no value'}"
    ax.text(left + BOX / 2, middle, words, ha="center", va="center", fontsize=9)


def _gone(ax: Axes, left: float, bottom: float) -> None:
    ax.add_patch(
        Rectangle(
            (left, bottom), BOX, ROW - 0.16, fill=False, edgecolor=QUIET, linestyle=(0, (2, 2))
        )
    )


def _short(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
