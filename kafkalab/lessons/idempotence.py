"""Lesson idempotence: what was sent again and written again, in which order; a leader forgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from kafkalab import quick
from kafkalab.draw.drawing import rows_of
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster
    from kafkalab.draw.drawing import Frame
    from kafkalab.gateway.seen import Frames

IN_PLACE, OVERTAKEN = "#9CC9E8", "#F3CE7F"
SENT, WRITTEN = "#CCCCCC", "#D55E00"
EDGE = "#444444"


def overtaken(log: Sequence[int]) -> list[int]:
    """Numbers that stand behind a larger one, where they were sent in the order of counting."""
    return [number for place, number in enumerate(log) if any(n > number for n in log[:place])]


def order(logs: Mapping[str, Sequence[int]]) -> Axes:
    """A row for each log: the numbers in the order of their offsets, the overtaken ones marked."""
    ax = plt.subplots(figsize=(7.5, 0.8 * len(logs) + 1.1))[1]
    for row, log in enumerate(logs.values()):
        behind = overtaken(log)
        for offset, number in enumerate(log):
            late = number in behind
            ax.barh(
                row,
                0.9,
                left=offset - 0.45,
                height=0.7,
                color=OVERTAKEN if late else IN_PLACE,
                edgecolor=EDGE,
                hatch="///" if late else "",
                label="ride behind a later one" if late else "ride in its place",
            )
            ax.text(offset, row, f" {number} ", ha="center", va="center", weight="bold").set_bbox(
                {"facecolor": "white", "edgecolor": "none", "pad": 1}
            )
    ax.set_yticks(range(len(logs)), list(logs))
    longest = max(map(len, logs.values()), default=0)
    ax.set_xticks(range(longest))
    ax.set(xlabel="offset", ylabel="idempotence", xlim=(-0.6, longest - 0.4))
    ax.set_ylim(len(logs) - 0.4, -0.6)
    ax.grid(visible=False)
    shown = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    ax.figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=2)
    return ax


def again(sends: Mapping[str, Frame], wire: Frames) -> Axes:
    """For each setting how many records went over the wire again, and how many into the log.

    `sends` are the frames of a ledger that was read back; `wire` are all produce requests.
    """
    batches = wire.batches()
    repeated = batches[batches.duplicated(["topic", "partition", "checksum"])]
    counts = []
    for frame in sends.values():
        rows = rows_of(frame, ["topic", "copies_in_log"])
        sent = repeated.loc[repeated["topic"].isin(rows["topic"].unique()), "records"].sum()
        counts.append((int(sent), int((rows["copies_in_log"] - 1).clip(lower=0).sum())))
    ax = plt.subplots(figsize=(7.5, 0.9 * len(counts) + 1.2))[1]
    for row, pair in enumerate(counts):
        for place, (count, colour) in enumerate(zip(pair, (SENT, WRITTEN), strict=True)):
            label = ("sent again", "written again")[place] if row == 0 else None
            bar = ax.barh(row + 0.36 * place - 0.18, count, 0.34, color=colour, label=label)
            ax.bar_label(bar, [f"{count:,}"], padding=3)
    ax.set_yticks(range(len(counts)), list(sends))
    ax.set(xlabel="records", ylabel="idempotence", ylim=(len(counts) - 0.5, -0.5))
    ax.margins(x=0.1)
    ax.grid(visible=False, axis="y")
    ax.figure.legend(loc="outside right center")
    return ax


def forget_producers(cluster: Cluster, topic: str, setting: str) -> None:
    """Let the leader of partition 0 forget every producer, and put the setting back.

    `setting` is the one that says for how many milliseconds a broker remembers a silent producer.
    """
    from kafka import KafkaAdminClient, TopicPartition
    from kafka.admin import ConfigResource

    place = TopicPartition(topic, 0)
    usual = cluster.broker_configs(cluster.brokers[0])[setting].value
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:

        def let(value: str) -> None:
            for broker in cluster.brokers:
                resource = ConfigResource("BROKER", str(broker), configs={setting: value})
                admin.alter_configs([resource])
            cluster.wait_for_setting(setting, value)

        let("1")
        try:
            wait_until(
                lambda: not admin.describe_producers([place])[place].active_producers,
                timeout=15,
                what=f"the leader of {topic} to forget its producers",
            )
        finally:
            let(str(usual))
