"""Lesson failover: brokers brought back, logs by leader epoch, who led meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Patch

from kafkalab import quick
from kafkalab.cluster import wire
from kafkalab.draw.diagrams.canvas import canvas
from kafkalab.draw.drawing import MARK, PLATE, nothing, rows_of
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafka import KafkaProducer

    from kafkalab.cluster.cluster import Cluster
    from kafkalab.cluster.replicas import Copies
    from kafkalab.cluster.segments import Batch
    from kafkalab.draw.drawing import Frame

SHADES = ("#9CC9E8", "#F3CE7F", "#8FCFB6", "#E9C3D8")
LEADERS = SHADES[:3]
SHOWN = 12
LOOK = 0.1  # seconds from one look of a watch to the next, about
AFTER = 1.0  # seconds that a strip goes on after its last change


def preferred_lead(cluster: Cluster, *topics: str) -> None:
    """All faults undone, all copies in sync, and each partition led by the first of its list."""
    from kafka import KafkaAdminClient

    cluster.mend()
    for topic in topics:
        cluster.wait_for_isr(topic, len(cluster.topic(topic).partitions[0].replicas))
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:

        def led() -> bool:
            # Refused while a broker that is back does not count as ready: then once more.
            admin.elect_leaders(0, list(topics), raise_errors=False)
            return all(
                one.leader == one.replicas[0]
                for topic in topics
                for one in cluster.topic(topic).partitions
            )

        wait_until(led, timeout=15, what="the first of each list to lead")


def wait_for_equal_copies(cluster: Cluster, topic: str, partition: int = 0) -> None:
    """Until the logs of all replicas of a partition are the same, byte by byte."""
    wait_until(
        lambda: cluster.copies(topic, partition, noted=False).equal,
        timeout=15,
        what=f"equal copies of {topic} {partition}",
        seen=lambda: f"they end at {cluster.log_ends(topic, partition)}",
        every=0.02,
    )


def start_over(cluster: Cluster, topic: str, a_round: Callable[[], object]) -> None:
    """The first of each list leads, and the copies of partition 0 have ten records more, equal."""
    preferred_lead(cluster, topic)
    # Before the first is sent: where disks are read slowly, the ten would be counted in.
    wanted = min(cluster.log_ends(topic).values()) + 10
    for _ in range(10):
        a_round()

    def written() -> bool:
        copies = cluster.copies(topic, noted=False)
        return copies.equal and min(copies.ends.values()) >= wanted

    wait_until(written, timeout=15, what=f"ten more records in {topic}", every=0.02)


def settle(cluster: Cluster, topic: str, producer: KafkaProducer) -> Copies:
    """All copies of partition 0 once what the producer still holds is in each of them."""
    producer.flush(timeout=30)
    wait_for_equal_copies(cluster, topic)
    return cluster.copies(topic)


def take_sides(cluster: Cluster, topic: str, alone: int, with_it: str, with_others: str) -> None:
    """All mended; one client reaches the broker that will be alone only, the second all others.

    Afterwards nothing reaches partition 0 of the topic, which that broker leads, but by the first;
    its copies are equal.
    """
    preferred_lead(cluster, topic)
    for broker in cluster.brokers:
        cluster.gateway.cut(broker, client_id=with_others if broker == alone else with_it)
    wait_for_equal_copies(cluster, topic)


def leader_by(cluster: Cluster, topic: str, asked: int, partition: int = 0) -> int:
    """Who leads a partition by the word of one broker, which may be wrong; -1 for nobody."""
    return int(_by(cluster, topic, asked, partition).leader_id)


def in_sync_by(cluster: Cluster, topic: str, asked: int, partition: int = 0) -> list[int]:
    """Which replicas are in sync by the word of one broker, which may be wrong; sorted."""
    return sorted(_by(cluster, topic, asked, partition).isr_nodes)


def _by(cluster: Cluster, topic: str, asked: int, partition: int) -> Any:
    """What one broker believes of a partition."""
    (found,) = wire.metadata(cluster.addresses[asked], [topic]).topics
    return {one.partition_index: one for one in found.partitions}[partition]


def asked_first(cluster: Cluster, broker: int, partition: str) -> int:
    """The offset with which a follower last began to fetch a partition (`orders-0`), by its log."""
    line = last_line(cluster, broker, "Added fetcher", f"{partition} -> ")
    found = re.search(
        rf"(?<![\w.-]){re.escape(partition)} -> InitialFetchState\(.*?\],\d+,(\d+)\)", line
    )
    if found is None:
        raise CourseError(f"No offset of {partition} in: {line}")
    return int(found[1])


def last_line(cluster: Cluster, node: int | str, *words: str) -> str:
    """The newest line of a node's log that has all of these words."""
    lines = cluster.logs(node, 20_000).splitlines()
    found = [line for line in lines if all(word in line for word in words)]
    if not found:
        raise CourseError(f"No line in the log of {node} has {', '.join(words)}.")
    return found[-1]


def not_sooner(seconds: Mapping[str, float]) -> dict[str, str]:
    """Why neither a kill nor a freeze is acted on sooner; from the seconds of each."""
    kill, freeze = seconds["kill"], seconds["freeze"]
    why = f"{kill:.1f} s after the kill, {freeze:.1f} s after the freeze; the rest is chance."
    return {"the kill": why, "the freeze": why}


def not_the_cut(said: int) -> str:
    """What is wrong with where {0: 0, 3: 20, 4: 41} parts from {0: 0, 3: 20, 5: 34}."""
    if said == 41:
        return "from 34 to 40 the follower has records of epoch 3, the leader of epoch 5."
    if said == 20:
        return "both have epoch 3 from 20 on; how far have both of them?"
    return "" if said == 34 else "up to there both have records of the same epochs?"


def not_how_many(said: int) -> str:
    """What is wrong with how many of five copies may go, with a minimum of two in sync."""
    if said == 4:
        return "that holds for records that all five have. How many are certain to have one?"
    if said == 3:
        return "so many may be down, and one can still write. How many have an acknowledged record?"
    return "" if said == 1 else "how many copies are certain, once a record is acknowledged?"


def epochs(logs: Mapping[str, Sequence[Batch]], start: int) -> Axes:
    """A row of offsets for each log, from `start` on, in the shade of the epoch of their leader."""
    ax = canvas(SHOWN + 5.5, len(logs) + 0.9, size=(9, 0.55 * len(logs) + 0.9))
    numbers = sorted({batch.leader_epoch for log in logs.values() for batch in log})
    seen: set[int] = set()
    for row, (name, log) in enumerate(logs.items()):
        bottom = len(logs) - 1 - row + 0.9
        ax.text(0, bottom + 0.35, name, va="center")
        offsets = [
            (offset, batch.leader_epoch)
            for batch in log
            for offset in range(batch.base_offset, batch.last_offset + 1)
            if offset >= start
        ]
        for offset, epoch in offsets[:SHOWN]:
            shade = SHADES[numbers.index(epoch) % len(SHADES)]
            seen.add(epoch)
            x = 4.2 + offset - start
            ax.add_patch(plt.Rectangle((x, bottom), 0.92, 0.7, facecolor=shade, edgecolor="white"))
            ax.text(x + 0.46, bottom + 0.35, f"{offset}", ha="center", va="center", fontsize=10)
        if len(offsets) > SHOWN:
            ax.text(4.3 + SHOWN, bottom + 0.35, "…", va="center")
    keys = [
        Patch(color=SHADES[numbers.index(one) % len(SHADES)], label=f"written in epoch {one}")
        for one in sorted(seen)
    ]
    ax.legend(handles=keys, loc="lower left", ncols=len(keys), bbox_to_anchor=(0.2, -0.05))
    return ax


def leader_and_in_sync(looks: Frame, session: float) -> Axes:
    """Who led one partition, and how many replicas were in sync: a strip for each `during`.

    `looks` has the columns of `kafkalab.Watch`. Each strip begins when something was begun, ends
    soon after its last change, and says behind its end when another leader was named than at
    first. A mark at the session timeout.
    """
    seen = rows_of(looks, ["during", "began", "seconds", "leader", "in_sync"])
    seen = seen.sort_values(["began", "seconds"]).astype({"leader": float})
    size = (9, 0.4 * max(3, seen["during"].nunique()) + 1.3)
    figure, (left, right) = plt.subplots(1, 2, figsize=size, sharex=True, sharey=True)
    if seen.empty:
        return nothing(left)
    leaders = sorted(seen["leader"].dropna().unique())
    led = {one: LEADERS[place % len(LEADERS)] for place, one in enumerate(leaders)}
    fewest = {number: str(0.95 - 0.2 * number) for number in sorted(seen["in_sync"].unique())}
    names = list(seen["during"].unique())
    for place, name in enumerate(names):
        rows = seen[seen["during"] == name]
        ends = rows[["leader", "in_sync"]].iloc[-1]
        before = rows["seconds"][(rows[["leader", "in_sync"]] != ends).any(axis=1)].max()
        changed = rows["seconds"][~(rows["seconds"] <= before)].min()  # at once, where nothing did
        rows = rows[rows["seconds"] <= changed + AFTER]
        _strip(left, place, rows["seconds"], rows["leader"], led)
        _strip(right, place, rows["seconds"], rows["in_sync"], fewest)
        others = rows[rows["leader"].notna() & (rows["leader"] != rows["leader"].iloc[0])]
        when = "stays" if others.empty else f"moved after {others['seconds'].iloc[0]:.1f} s"
        at = (rows["seconds"].max() + LOOK, place)
        left.annotate(when, at, (5, 0), textcoords="offset points", va="center", bbox=PLATE)
    left.axvline(session, color=MARK, linestyle=(0, (3, 2)), linewidth=1)
    left.text(session, -0.75, " session timeout", color=MARK, va="center", fontsize=10.5)
    left.set_xlim(0, max(seen["seconds"].max(), session) * 1.6)
    left.set_ylim(len(names) - 0.5, -1.1)
    left.set_yticks(range(len(names)), names)
    keys = [Patch(color=led[one], label=f"broker {one:.0f} leads") for one in leaders]
    keys += [Patch(color=shade, label=f"{number} in sync") for number, shade in fewest.items()]
    for ax in (left, right):
        ax.set_xlabel("seconds since it was begun")
        ax.grid(visible=False)
    right.tick_params(left=False)
    left.set_title("who leads", fontsize=11)
    right.set_title("in-sync replicas", fontsize=11)
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))
    return left


def _strip(
    ax: Axes, place: int, at: pd.Series, values: pd.Series, shades: Mapping[Any, str]
) -> None:
    """From each look to the next, and LOOK from the last one on; white where nobody led."""
    until = [*at.iloc[1:], at.iloc[-1] + LOOK]
    for start, stop, value in zip(at, until, values, strict=True):
        if pd.notna(value):
            ax.broken_barh([(start, stop - start)], (place - 0.35, 0.7), facecolors=shades[value])


def drawn(ax: Axes) -> list[list[str]]:
    """The shades of each strip of such a chart, from left to right, none that has no width."""
    found: dict[int, list[str]] = {}
    for bars in ax.collections:
        for path in bars.get_paths():
            corners = np.asarray(path.vertices)
            if np.ptp(corners[:, 0]) > 0:
                place = round(float(corners[:, 1].mean()))
                found.setdefault(place, []).append(to_hex(np.asarray(bars.get_facecolor())[0]))
    return [found[place] for place in sorted(found)]
