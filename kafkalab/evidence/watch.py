"""What one broker says about a topic, over and over, while something happens to another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalab.cluster import wire
from kafkalab.cluster.asking import UNSETTLED, NoTopic
from kafkalab.wait import WaitTimeout, wait_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kafkalab.cluster.cluster import Cluster

PAUSE = 0.05
CATCH_UP = 5.0  # seconds, at most
SCHEMA = pa.schema(
    [
        ("during", pa.string()),
        ("began", pa.float64()),
        ("seconds", pa.float64()),
        ("partition", pa.int32()),
        ("leader", pa.int32()),
        ("leader_epoch", pa.int32()),
        ("in_sync", pa.int32()),
    ]
)


@dataclass(frozen=True)
class Look:
    """One partition as the broker knew it, so many seconds after the watch `began` (Unix time).

    A leader that is named may be dead: the broker repeats what the controller told it.
    """

    during: str
    began: float
    seconds: float
    partition: int
    leader: int | None
    leader_epoch: int
    in_sync: int


class Watch:
    """Asks one broker of the cluster, which must not be the one in trouble."""

    def __init__(self, cluster: Cluster, topic: str, asked: int) -> None:
        self._cluster = cluster
        self.address = cluster.addresses[asked]
        self.topic = topic
        self.looks: list[Look] = []

    @contextmanager
    def during(
        self, name: str, doing: Callable[[], object] | None = None, every: float = 0.1
    ) -> Iterator[None]:
        """Look about twenty times a second while the block runs, once before and once after it.

        What the block waited for is known to the broker that is asked when the last look comes,
        and what was waited for before it when the first one does.

        Meanwhile a thread calls `doing`, such as a function that sends, each `every` seconds, the
        first time at once. What was noted under the same name before is forgotten, for a cell that
        is run again.
        """
        self.looks = [look for look in self.looks if look.during != name]
        self._catch_up()
        began, over = time.time(), Event()
        self._look(name, began)
        threads = [Thread(target=_repeat, args=(over, PAUSE, self._look, name, began))]
        if doing is not None:
            threads.append(Thread(target=_repeat, args=(over, every, doing)))
        for thread in threads:
            thread.daemon = True
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()
            self._catch_up()
            self._look(name, began)

    def until_moved(self, name: str, partition: int) -> float | None:
        """Seconds until another leader was named than at first; None where it stayed."""
        looks = [one for one in self.looks if (one.during, one.partition) == (name, partition)]
        same = (None, looks[0].leader) if looks else ()
        return next((one.seconds for one in looks if one.leader not in same), None)

    def frame(self, spark: SparkSession) -> DataFrame:
        """One row for each look at each partition."""
        table = pa.Table.from_pylist([vars(look) for look in self.looks], SCHEMA)
        return spark.createDataFrame(table)

    def _catch_up(self) -> None:
        """Wait until the broker that is asked says what another one has said, as waits ask that."""

        def is_known() -> bool:
            (topic,) = wire.metadata(self.address, [self.topic]).topics
            known = {p.partition_index: (p.leader_id, {*p.isr_nodes}) for p in topic.partitions}
            told = self._cluster.topic(self.topic).partitions
            return known == {
                p.partition: (-1 if p.leader is None else p.leader, {*p.isr}) for p in told
            }

        with suppress(WaitTimeout):  # where it changes all the time, a look is as good as the next
            wait_until(is_known, timeout=CATCH_UP, what="", not_yet=(*UNSETTLED, NoTopic))

    def _look(self, name: str, began: float) -> None:
        asked_at = time.time()
        try:
            (topic,) = wire.metadata(self.address, [self.topic]).topics
        except UNSETTLED:  # no answer is no look
            return
        self.looks += [
            Look(
                during=name,
                began=began,
                seconds=asked_at - began,
                partition=one.partition_index,
                leader=one.leader_id if one.leader_id >= 0 else None,
                leader_epoch=one.leader_epoch,
                in_sync=len(one.isr_nodes),
            )
            for one in topic.partitions
        ]


def _repeat(over: Event, pause: float, action: Callable[..., object], *arguments: object) -> None:
    while True:
        action(*arguments)
        if over.wait(pause):
            return
