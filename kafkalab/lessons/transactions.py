"""Lesson transactions: what readers see, logs with their markers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from kafkalab.draw.drawing import MARK, nothing

if TYPE_CHECKING:
    from kafka import KafkaConsumer

    from kafkalab.cluster.segments import Batch

T = TypeVar("T")

# What became of a record: a colour and a pattern, for those who cannot tell the colours apart.
FATES = {
    "no transaction": ("#FFFFFF", ""),
    "committed": ("#8FCFB6", ""),
    "aborted": ("#E9C3D8", "xx"),
    "open": ("#F3CE7F", ".."),
    "marker": ("#CCCCCC", ""),
}
EDGE = "#444444"


def visible(steps: Mapping[str, Mapping[str, int]]) -> Axes:
    """How many records each reader has after each step: a bar with its number for each."""
    ax = plt.subplots(figsize=(7.5, 3.2))[1]
    readers = list(next(iter(steps.values()), {}))
    width = 0.8 / max(len(readers), 1)
    for row, (reader, colour) in enumerate(zip(readers, ("#F3CE7F", "#0072B2"), strict=False)):
        places = [place + (row - (len(readers) - 1) / 2) * width for place in range(len(steps))]
        counts = [seen[reader] for seen in steps.values()]
        ax.bar_label(ax.bar(places, counts, width * 0.95, color=colour, label=reader), padding=2)
    ax.set_xticks(range(len(steps)), [step.replace(", ", ",\n") for step in steps])
    ax.set(xlabel="transfer", ylabel="records read")
    ax.margins(y=0.15)
    ax.grid(visible=False, axis="x")
    ax.figure.legend(loc="outside lower center", ncols=2)
    return ax


def left_to_read(consumer: KafkaConsumer) -> int:
    """How many offsets lie between a consumer's positions and the ends of its partitions."""
    places = consumer.assignment()
    ends = consumer.end_offsets(places)
    return sum(ends[place] - consumer.position(place) for place in places)


def beside(function: Callable[..., T], *arguments: Any) -> Future[T]:
    """Call a function in a thread of its own, which ends with the notebook at the latest."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(function(*arguments))
        except Exception as error:  # it is for whoever asks for the result
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


def transaction_logs(
    logs: Mapping[str, Sequence[Batch]], last_stable: Mapping[str, int] | None = None
) -> Axes:
    """Logs of partitions below each other, each beside its name; the Axes of the first one.

    A box for each offset: what became of its record, or which end a marker tells (C or A). For a
    name in `last_stable` the last stable offset is drawn: a reader of committed records stops
    before it.
    """
    height = 0.9 + 0.8 * len(logs)
    rows = plt.subplots(len(logs), figsize=(7.5, height), sharex=True, squeeze=False)[1][:, 0]
    rows[-1].set(xlabel="offset")
    longest = max(logs.values(), key=lambda batches: batches[-1].last_offset if batches else -1)
    used: set[str] = set()
    for ax, (name, batches) in zip(rows, logs.items(), strict=True):
        ax.set(yticks=[])
        ax.set_ylabel(name, rotation=0, ha="right", va="center")
        if batches:
            used |= _boxes(ax, batches, longest, (last_stable or {}).get(name))
    if not longest:
        return nothing(rows[0])
    rows[0].figure.legend(handles=_key(used), loc="outside right center")
    return rows[0]


def _boxes(
    ax: Axes, batches: Sequence[Batch], longest: Sequence[Batch], last_stable: int | None
) -> set[str]:
    """Draw one log on an axis that has room for the longest; which fates it holds."""
    used = set()
    for place, batch in enumerate(batches):
        fate = _fate(batch, batches[place + 1 :])
        used.add(fate)
        colour, pattern = FATES[fate]
        for offset in range(batch.base_offset, batch.last_offset + 1):
            ax.barh(
                0, 0.9, left=offset + 0.05, height=0.7, color=colour, edgecolor=EDGE, hatch=pattern
            )
            if batch.marker:
                letter = batch.marker[0].upper()
                ax.text(offset + 0.5, 0, letter, ha="center", va="center", weight="bold")
    end = longest[-1].last_offset + 1
    if last_stable is not None:
        ax.axvline(last_stable, color=MARK, linestyle=(0, (3, 2)), linewidth=1.5)
        ax.annotate(
            f"last stable offset: {last_stable:,}",
            (last_stable, 0.45),
            (-4 if last_stable > end / 2 else 4, 2),
            textcoords="offset points",
            ha="right" if last_stable > end / 2 else "left",
            va="bottom",
            color=MARK,
        )
    ax.set(xlim=(longest[0].base_offset - 0.1, end + 0.1), ylim=(-0.5, 0.9))
    offsets = range(longest[0].base_offset, end)
    every = -(-len(offsets) // 25)
    ax.set_xticks([o + 0.5 for o in offsets[::every]], [str(o) for o in offsets[::every]])
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    return used


def _key(used: Collection[str]) -> list[Patch]:
    return [
        Patch(facecolor=colour, edgecolor=EDGE, hatch=pattern, label=fate)
        for fate, (colour, pattern) in FATES.items()
        if fate in used
    ]


def _fate(batch: Batch, later: Sequence[Batch]) -> str:
    """The next marker of its producer decides about a batch."""
    if batch.control:
        return "marker"
    if not batch.transactional:
        return "no transaction"
    ends = (b.marker for b in later if b.control and b.producer_id == batch.producer_id)
    return {"commit": "committed", "abort": "aborted"}.get(next(ends, None) or "", "open")


def one_coin(got: int) -> Callable[[Any], str]:
    """Of a coin sent beside an open transfer: got is what a careful reader has of the topic."""

    def problem(_: Any) -> str:
        if got > 1:
            return f"a careful reader has {got} records: the transfer is open no more."
        return "" if got else "it waits for the transfer, too."

    return problem


def three_clerks(name: Callable[[int], str]) -> str:
    """What is not right yet of the names that clerks of partitions 0, 1 and 2 get."""
    names = [name(partition) for partition in range(3)]
    if names != [name(partition) for partition in range(3)]:
        return "started again it has another name, and nobody ends what it left open."
    return "" if len(set(names)) == 3 else f"{names}: clerks of one name fence each other."
