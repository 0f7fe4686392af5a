"""Order and shares of partitions: what lesson 02 counts and draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from kafkalab.draw.picture import show

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord

    from kafkalab.cluster.cluster import Cluster

HOT, OTHERS = "#E69F00", "#D9E6EF"


def steps_back(records: Sequence[ConsumerRecord]) -> int:
    """How often the number in a record is smaller than that of the one read before it."""
    numbers = [int(record.value) for record in records]
    return sum(after < before for before, after in pairwise(numbers))


def steps_back_inside(records: Sequence[ConsumerRecord]) -> int:
    """The same, each partition by itself."""
    lanes: dict[int, list[ConsumerRecord]] = {}
    for record in records:
        lanes.setdefault(record.partition, []).append(record)
    return sum(map(steps_back, lanes.values()))


def arrivals(records: Sequence[ConsumerRecord]) -> pd.DataFrame:
    """The place of each record in the order of reading, its number, its partition."""
    rows = [(place, int(one.value), one.partition) for place, one in enumerate(records, 1)]
    return pd.DataFrame(rows, columns=["read", "sent", "partition"])


def changes(partitions: Sequence[int]) -> int:
    """How often a record goes to another partition than the one before it."""
    return sum(after != before for before, after in pairwise(partitions))


def out_of_order(records: Sequence[ConsumerRecord]) -> str:
    """What is not right yet of the steps of one lift, sent with a key and read back."""
    if any(record.key is None for record in records):
        return "a record has no key."
    lanes = {record.partition for record in records}
    back = steps_back(records)
    return f"{back} steps back, over {len(lanes)} partitions." if back else ""


def unmasked(number: int, home: Mapping[bytes, int]) -> str:
    """What is not right yet of the number of keys that the mask moves, of six partitions."""
    from kafka.partitioner import murmur2

    moved = sum(murmur2(key) % 6 != partition for key, partition in home.items())
    if number == moved:
        return ""
    return "count those for which `murmur2(rider) % 6` is not `home[rider]`."


def filled(cluster: Cluster, topics: Mapping[str, str]) -> dict[str, list[int]]:
    """How many records each partition of these topics got, for the name of each topic."""
    return {
        name: [one.end_offset or 0 for one in cluster.topic(topic).partitions]
        for name, topic in topics.items()
    }


def shares(counts: Mapping[str, Sequence[int]], ax: Axes | None = None) -> Axes:
    """A bar of 100 % for each topic, cut into its partitions; the fullest is coloured and named."""
    ax = ax or plt.subplots(figsize=(7.5, 0.9 + 0.65 * len(counts)))[1]
    for row, records in enumerate(counts.values()):
        left = 0.0
        for place, number in enumerate(sorted(records, reverse=True)):
            share = number / sum(records)
            colour = OTHERS if place else HOT
            ax.barh(row, share, left=left, height=0.6, color=colour, edgecolor="white")
            if not place:
                ax.text(share / 2, row, f"{share:.0%}", ha="center", va="center")
            left += share
    ax.set_yticks(range(len(counts)), counts)
    ax.invert_yaxis()
    ax.set(xlabel="share of the records, partition by partition, the fullest first", xlim=(0, 1))
    ax.set_ylabel("partitions")
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.grid(axis="y", visible=False)
    return ax


def show_shares(counts: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """The chart of these counts; returns the percentage that the fullest partition of each has."""
    percent = {name: 100 * max(records) / sum(records) for name, records in counts.items()}
    ax = shares(counts)
    found = ", ".join(f"{one:.0f} % ({name})" for name, one in percent.items())
    title = f"The fullest partition has {found}"
    ax.set_title(title)
    show(ax, f"{title}. A bar for each topic, cut into its partitions.")
    return percent
