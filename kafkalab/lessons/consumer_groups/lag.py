"""How far a group is behind, over time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from kafkalab.draw.drawing import MARK, PLATE, thousands

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


@dataclass(frozen=True)
class Standing:
    """Of a topic and a group at one moment: the sum of the log ends and of the commits."""

    seconds: float
    end: int
    committed: int

    @property
    def lag(self) -> int:
        return self.end - self.committed


class Story:
    """Looks at a topic and the group of its name, from now on, as often as it is told to.

    What lies in the topic already is not counted.
    """

    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._cluster, self._topic = cluster, topic
        self._began = time.monotonic()
        self._there = self._end()
        self.seen: list[Standing] = []
        self.look()

    def look(self) -> Standing:
        """Where they stand now. A partition without a commit counts from its offset 0."""
        end = self._end() - self._there
        commits = self._cluster.group(self._topic).offsets
        done = sum(offset for (name, _), offset in commits.items() if name == self._topic)
        self.seen.append(Standing(time.monotonic() - self._began, end, done - self._there))
        return self.seen[-1]

    def _end(self) -> int:
        return sum(one.end_offset or 0 for one in self._cluster.topic(self._topic).partitions)


def lag_over_time(story: Sequence[Standing], sent: float) -> Axes:
    """Both sums over time and the lag between them; a line at the second at which all were sent."""
    _, ax = plt.subplots(figsize=(8, 3.8))
    seconds = [one.seconds for one in story]
    ends, commits = [one.end for one in story], [one.committed for one in story]
    ax.fill_between(seconds, commits, ends, color="#F6D9C6")
    ax.plot(seconds, ends, color="#555555", linestyle=":", label="sent (log ends)")
    ax.plot(seconds, commits, color="#D55E00", linestyle="-", label="committed offsets")
    ax.axvline(sent, color=MARK, linewidth=1)
    beside: dict[str, Any] = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "bbox": PLATE,
    }
    ax.annotate("all sent", (sent, 0.8), (4, 0), color=MARK, **beside)
    most = max(story, key=lambda one: one.lag)
    ax.annotate(f"lag {most.lag:,}", (most.seconds, 0.5), (8, 0), **beside)
    ax.set(xlabel="seconds, from just before the first send")
    ax.set(ylabel="records, all partitions", ylim=(0, None))
    thousands(ax.yaxis)
    ax.legend(loc="lower right")
    return ax


def lag_of(cluster: Cluster, group: str) -> Callable[[Any], str]:
    """Of partition -> lag of a group, whatever topic it reads: the brokers are asked."""

    def problem(told: Any) -> str:
        right = {partition: behind for (_, partition), behind in cluster.group(group).lag.items()}
        if not isinstance(told, Mapping) or set(told) != set(right):
            return f"it should have the partitions {sorted(right)} as keys."
        wrong = [partition for partition in sorted(right) if told[partition] != right[partition]]
        return (
            f"the brokers say otherwise of partition {', '.join(map(str, wrong))}." if wrong else ""
        )

    return problem
