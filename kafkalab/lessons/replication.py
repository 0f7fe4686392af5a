"""Lesson replication: who asked a leader for records, and what a kill looked like from outside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from kafkalab import clients
from kafkalab.draw.drawing import MARK, nothing, rows_of
from kafkalab.lessons import failover
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafka import KafkaConsumer

    from kafkalab.cluster.cluster import Cluster
    from kafkalab.cluster.views import TopicView
    from kafkalab.draw.drawing import Frame
    from kafkalab.evidence.ledger import Ledger

LEADERS = ("#9CC9E8", "#F3CE7F", "#8FCFB6", "#E9C3D8")
ADDED = re.compile(r"Added fetcher to broker (?:\S*?id=)?(\d+)")


def mended(cluster: Cluster, topic: str) -> TopicView:
    """The topic once all faults are undone and each partition is led by the first of its list.

    A broker that stood still for too long has lost its partitions, and does not get them back by
    itself. A cell that is run again finds a leader to break.
    """
    failover.preferred_lead(cluster, topic)
    return cluster.topic(topic)


def wait_for_copy(cluster: Cluster, topic: str, broker: int, offset: int) -> None:
    """Until a broker has this offset of partition 0 on its disk.

    Only this disk is read: it is done while another broker stands still, for a few seconds.
    """

    def is_there() -> bool:
        batches = cluster.batches(topic, 0, broker)
        return bool(batches) and batches[-1].last_offset >= offset

    wait_until(is_there, timeout=10, what=f"a copy on broker {broker}", every=0.02)


def read_to_the_end(reader: KafkaConsumer, cluster: Cluster, topic: str) -> int:
    """How many records the reader gets when all replicas of partition 0 have the same log.

    An earlier run of a cell may have left a follower that is still behind.
    """
    cluster.wait_for_isr(topic, len(cluster.topic(topic).partitions[0].replicas))

    def readable() -> bool:
        copies = cluster.copies(topic, noted=False)
        end = cluster.topic(topic).partitions[0].end_offset
        return copies.equal and {*copies.ends.values()} == {end}

    wait_until(readable, timeout=15, what=f"equal copies of {topic}", every=0.02)
    return sum(1 for _ in clients.records_until_end(reader))


def wait_for_reads(reads: Sequence[tuple[int, float]], partitions: int, more: int) -> None:
    """Until so many more records have been read from each of the partitions.

    `reads` is what another thread adds to: of each record its partition, and when it was read.
    """
    start = len(reads)

    def enough() -> bool:
        found = Counter(partition for partition, _ in reads[start:])
        return len(found) == partitions and min(found.values()) >= more

    wait_until(enough, timeout=30, what=f"{more} records from each partition")


def read_the_rest(witness: KafkaConsumer, ledger: Ledger) -> None:
    """What was sent gets its answer, and the consumer reads on to the end; the ledger notes it."""
    ledger.settle(timeout=30)
    for record in clients.records_until_end(witness):
        ledger.read(record)


def requests_at(cluster: Cluster, broker: int) -> Counter[str]:
    """Who asked a broker to write or to hand out records since the gateway forgot, and how often.

    Where what brokers say to each other does not pass the gateway, as with Docker, a follower is
    counted once, if its log says that it fetches from this broker.
    """
    found = Counter(
        f"{frame.client_id}: {frame.api}"
        for api in ("Produce", "Fetch")
        for frame in cluster.gateway.frames(api, broker=broker, between=None)
    )
    if not cluster.gateway.covers_nodes:
        for other in cluster.brokers:
            if str(broker) in ADDED.findall(cluster.logs(other, 5_000)):
                found[f"broker-{other}-fetcher-0: Fetch"] += 1
    return found


def not_the_mark(said: int) -> str:
    """What is wrong with the high watermark of copies that end at 40 (not in sync), 50 and 47."""
    if said == 40:
        return "broker 0 is not in sync; who waits for it?"
    if said == 50:
        return "that is where the leader ends, and broker 2 has not come so far."
    return "" if said == 47 else "it is the end of one of the copies."


def heirs(before: TopicView, lost: int) -> dict[int, int | None]:
    """Who leads each partition once a broker is lost: a leader stays, else the first in sync."""
    return {
        one.partition: one.leader
        if one.leader != lost
        else next((b for b in one.replicas if b in one.isr and b != lost), None)
        for one in before.partitions
    }


def not_the_leaders(before: TopicView, lost: int, said: Mapping[int, int | None]) -> str:
    """What is wrong with what a reader says of the leaders after a loss; nothing if it is right."""
    right = heirs(before, lost)
    if missing := right.keys() - said.keys():
        return f"partition {min(missing)} is missing."
    wrong = [partition for partition in right if said[partition] != right[partition]]
    if not wrong:
        return ""
    one = before.partitions[wrong[0]]
    if one.leader != lost:
        return f"the leader of partition {one.partition} is broker {one.leader}, and it lives."
    return f"partition {one.partition} has the list {one.replicas}; look from its beginning."


def through_a_kill(looks: Frame, reads: Frame, killed: float) -> Axes:
    """Who is named leader of each partition and when its records were read; below, who is in sync.

    `looks` has the columns of `kafkalab.Watch`; `reads` has partition and read_at, Unix time, and
    so has `killed`.
    """
    seen = rows_of(looks, ["began", "seconds", "partition", "leader", "in_sync"])
    read = rows_of(reads, ["partition", "read_at"])
    _, (top, bottom) = plt.subplots(2, 1, figsize=(9, 4.2), sharex=True, height_ratios=(4, 1))
    if seen.empty:
        return nothing(top)
    seen["x"] = seen["began"] + seen["seconds"] - killed
    leaders = sorted(seen["leader"].dropna().astype(int).unique())
    shades = {one: LEADERS[place % len(LEADERS)] for place, one in enumerate(leaders)}
    for partition, rows in seen.sort_values("x").groupby("partition"):
        _strip(top, int(partition), rows, shades)
    read = read[(read["read_at"] - killed).between(seen["x"].min(), seen["x"].max())]
    top.plot(read["read_at"] - killed, read["partition"], "|", color="black", markersize=7)
    top.set(ylabel="partition", ylim=(seen["partition"].max() + 0.6, -0.6))
    top.yaxis.set_major_locator(MaxNLocator(integer=True))
    top.grid(visible=False)
    fewest = seen.groupby("x")["in_sync"].min()
    bottom.step(fewest.index, fewest, where="post")
    bottom.set(ylim=(0, seen["in_sync"].max() + 0.5), ylabel="in-sync\nreplicas")
    bottom.set_xlabel("seconds since the broker was killed")
    bottom.yaxis.set_major_locator(MaxNLocator(integer=True))
    for ax in (top, bottom):
        ax.axvline(0, color=MARK, linestyle=(0, (3, 2)), linewidth=1)
    keys = [Patch(color=shades[one], label=f"broker {one} leads") for one in leaders]
    dash = Line2D([], [], color="black", marker="|", linestyle="none", label="a record is read")
    figure = top.get_figure(root=True)
    assert figure is not None, "made above"
    figure.legend(handles=[*keys, dash], loc="outside lower center", ncols=len(keys) + 1)
    return top


def _strip(ax: Axes, partition: int, rows: pd.DataFrame, shades: Mapping[int, str]) -> None:
    """In the shade of the leader that was named; white where none was."""
    starts = rows[rows["leader"].fillna(-1).diff() != 0]
    stops = [*starts["x"].iloc[1:], rows["x"].max()]
    for start, stop, leader in zip(starts["x"], stops, starts["leader"], strict=True):
        if pd.notna(leader):
            shade = shades[int(leader)]
            ax.broken_barh([(start, stop - start)], (partition - 0.42, 0.84), facecolors=shade)
