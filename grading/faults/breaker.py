"""Eyes and hands of a fault: it waits for what the cluster shows, and breaks things.

What it does to the processes of a student stands in grading/faults/processes.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from grading.define.seed import Parameters
from grading.faults.left import LeftFile
from grading.faults.processes import NotReached, Processes
from grading.judge.checks import Unseen
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from grading.judge.view import ClusterView
    from kafkalab.cluster.cluster import Cluster
    from kafkalab.gateway import Gateway


__all__ = ["Breaker", "NotReached"]


class Breaker(Processes):
    """The argument of every fault: eyes and hands. `owner`: the process that runs the cell."""

    def __init__(
        self,
        cluster: Cluster | None,
        kafka: ClusterView | None,
        p: Parameters,
        owner: int,
    ) -> None:
        super().__init__(owner)
        self.p = p
        self.began = time.monotonic()
        self.steps: list[tuple[float, str]] = []
        self.kept: dict[str, Any] = {}
        """What was seen on the way, as JSON carries it: `x.kept(task)` of a check."""
        self._cluster = cluster
        self._kafka = kafka
        self._broken: set[int] = set()

    @property
    def cluster(self) -> Cluster:
        """The cluster, to break and to ask."""
        if self._cluster is None:
            raise Unseen("this lab has no cluster")
        return self._cluster

    @property
    def kafka(self) -> ClusterView:
        """The cluster as a check sees it: what is not there ends the fault as not reached."""
        if self._kafka is None:
            raise Unseen("this lab has no cluster")
        return self._kafka

    # --- Waiting -------------------------------------------------------------------------------

    def until(self, condition: Callable[[], object], what: str, afterwards: bool = False) -> None:
        """Wait for what the student's cell makes the cluster show. Ends with the cell at last.

        `afterwards`: what the cell left when it was over counts too, for what was set up before.
        """
        while True:
            is_over = self.is_over.is_set()
            unable: CourseError | None = None
            try:
                if (afterwards or not is_over) and condition():
                    self.note(what)
                    return
            except Unseen:
                pass
            except CourseError as error:  # a coordinator that moves, a leader that is elected
                unable = error
            if is_over:
                raise unable or NotReached(what)
            self.is_over.wait(0.02)

    def wait(self, condition: Callable[[], object], what: str, timeout: float = 30) -> None:
        """Wait for what the cluster does by itself, whatever the cell does meanwhile."""
        wait_until(condition, timeout=timeout, what=what, not_yet=(CourseError,))

    def settled(self, value: Callable[[], int], above: int = -1, hold: float = 0.4) -> Callable:
        """A condition: the value is above a number and has stood still for so many seconds."""
        last: list[float] = [above, time.monotonic()]

        def stands() -> bool:
            now = value()
            if now != last[0]:
                last[:] = [now, time.monotonic()]
            return now > above and time.monotonic() - last[1] >= hold

        return stands

    def stored(self, topic: str, *partitions: int) -> int:
        """Records in the logs of these partitions (all, if none is named), on the leaders' disks.

        Counts what consumers cannot see yet, and asks nobody.
        """
        places = partitions or range(len(self.kafka.topic(topic).partitions))
        return sum(self.log_end(topic, partition) for partition in places)

    def log_end(self, topic: str, partition: int, broker: int | None = None) -> int:
        """Where the log of a partition ends on the disk of a broker, or of its leader."""
        try:
            batches = self.cluster.batches(topic, partition, broker)
        except CourseError as nothing:
            raise Unseen(nothing.what) from None
        return batches[-1].last_offset + 1 if batches else 0

    # --- Looking -------------------------------------------------------------------------------

    def left(self, name: str) -> LeftFile:
        """A file in the folder where the student's programs run, as it lies there now."""
        return LeftFile.find(name, self._owner)

    def keep(self, **facts: Any) -> None:
        """Facts for the checks of the task, each as JSON carries it."""
        self.kept |= facts

    @property
    def ports(self) -> set[int]:
        """Of the brokers, as clients know them; none without a cluster."""
        addresses = [] if self._cluster is None else self._cluster.address.split(",")
        return {int(one.rpartition(":")[2]) for one in addresses}

    # --- Breaking ------------------------------------------------------------------------------

    def note(self, words: str) -> None:
        """Keep what happened, for the evidence."""
        self.steps.append((round(time.monotonic() - self.began, 2), words))

    def down(self) -> list[int]:
        """Brokers that do not run, and that this fault has not taken down."""
        found = [] if self._kafka is None else self._kafka.down()
        return [broker for broker in found if broker not in self._broken]

    def kill(self, *brokers: int) -> None:
        self._each("killed", brokers, self.cluster.kill)

    def stop(self, *brokers: int) -> None:
        self._each("stopped", brokers, self.cluster.stop)

    def pause(self, *brokers: int) -> None:
        self._each("frozen", brokers, self.cluster.pause)

    def resume(self, *brokers: int) -> None:
        self._each("resumed", brokers, self.cluster.resume)

    def restart(self, *brokers: int) -> None:
        self._each("restarted", brokers, self.cluster.restart)

    @property
    def gateway(self) -> Gateway:
        """The network of the clients; the lab needs `gateway = true`."""
        return self.cluster.gateway

    def mend(self) -> None:
        """Let everything go on that was frozen, and make the cluster whole."""
        self.thaw_processes()
        if self._cluster is not None:
            self._cluster.mend()

    def _each(self, done: str, brokers: tuple[int, ...], do: Callable[[int], None]) -> None:
        for broker in brokers:
            do(broker)
            # One that comes back is not noted: it may well be long about it.
            self._broken.add(broker)
            self.note(f"broker {broker} {done}")
