"""One run of the programs against a cluster: its folder of logs, its topic, its group.

run = Run(cluster, "run/first", topic="first")
consumer = run.consumer(auto_offset_reset="earliest")
consumer.wait_for("ready")
producer = run.producer(acks=0)
producer.wait()
run.quit()                  # the consumers end when they have read all
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from kafka import KafkaProducer

from delivery import payload, programs
from delivery.programs import Program
from kafkalab import quick
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab import Cluster


_LAST: dict[Path, Run] = {}
# In a line of a broker's log: the level with what wrote it, and the reasons in brackets.
NOISE = re.compile(r"\] INFO \[.*?\]|\(.*")
TIME = len("[2026-01-01 ")
MEMBER = re.compile(r"-([0-9a-f]{4})[0-9a-f]{4}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Run:
    """Starts with empty logs: leftovers of an earlier run would spoil a comparison.

    Programs that an earlier run in the same folder left behind are killed: they would keep
    partitions, and take records of this one.
    """

    def __init__(
        self,
        cluster: Cluster,
        directory: Path | str = "run",
        topic: str = "test-topic",
        group: str = "test-app",
    ) -> None:
        self.cluster = cluster
        self.directory = Path(directory)
        self.topic = topic
        self.group = group
        self.programs: list[Program] = []
        folder = self.directory.resolve()
        if earlier := _LAST.get(folder):
            earlier.close()
        _LAST[folder] = self
        payload.remove(self.directory)

    def producer(self, **options: Any) -> Program:
        """Start the producer program on this run's topic."""
        return self._start("producer", options)

    def consumer(self, **options: Any) -> Program:
        """Start a consumer program in this run's group."""
        return self._start("consumer", {"group_id": self.group} | options)

    def in_place_of(self, former: Program, **options: Any) -> tuple[Program, float]:
        """Start a consumer, and kill the former one when this one is about to join.

        It, when it has read all, and the seconds from the kill until it was ready.
        """
        consumer = self.consumer(**options)
        consumer.wait_for("^opens")
        former.kill()
        gone = time.time()
        consumer.wait_for("^nothing left")
        return consumer, consumer.said("^ready")[0].came_at - gone

    def told_by_the_broker(self) -> list[str]:
        """What its coordinator has written about the group; ids of members are shortened."""
        keeper = self.cluster.group(self.group).coordinator
        lines = self.cluster.logs(keeper, 2_000).splitlines()
        told = (NOISE.sub("", line)[TIME:] for line in lines if self.group in line)
        return [MEMBER.sub(r"-\1…", line).strip() for line in told]

    @property
    def consumers(self) -> list[Program]:
        """Those that run."""
        return [p for p in self.programs if p.role == "consumer" and p.status is None]

    def send_control(self, word: str, partition: int | None = None) -> None:
        """A record that the consumer which reads it obeys: `quit`, `crash` or `wait`."""
        with KafkaProducer(bootstrap_servers=self.cluster.address, **quick.producer) as producer:
            producer.send(self.topic, word.encode(), partition=partition).get(timeout=10)

    def wait_until_read(self, timeout: float = 60) -> None:
        """Until the consumers of this run own every partition and have read all that is there now.

        A quit that is read earlier ends a consumer before it has read the other partitions, and
        what is left unread looks like a loss.
        """
        ends = {p.partition: p.end_offset or 0 for p in self.cluster.topic(self.topic).partitions}

        def settled() -> bool:
            own = sorted(number for one in self.consumers for number in one.partitions)
            read = {number: at for one in self.consumers for number, at in one.read_up_to.items()}
            # A consumer that had no turn since the last send still says that nothing is left.
            return own == sorted(ends) and all(read.get(n, -1) >= end for n, end in ends.items())

        wait_until(
            settled,
            timeout=timeout,
            what=f"the consumers to read all of {self.topic}",
            seen=lambda: "; ".join(map(repr, self.consumers)) or "no consumer runs",
        )

    def quit(self, timeout: float = 60) -> list[int]:
        """End the consumers one after the other, each when all is read; their exit statuses.

        One quit record reaches one consumer: the owner of its partition.
        """
        ended: list[int] = []
        while running := self.consumers:
            self.wait_until_read(timeout)
            self.send_control("quit")
            wait_until(
                lambda: any(one.status is not None for one in running),
                timeout=timeout,
                what="a consumer to obey the quit record",
                seen=lambda: "; ".join(map(repr, running)),
            )
            ended += [one.wait() for one in running if one.status is not None]
        return ended

    def close(self) -> None:
        """Kill what still runs."""
        for program in self.programs:
            program.kill()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self, role: str, options: dict[str, Any]) -> Program:
        own = {
            "bootstrap": self.cluster.address,
            "directory": str(self.directory),
            "topic": self.topic,
        }
        program = programs.start(role, **own | options)
        self.programs.append(program)
        return program


def reset(cluster: Cluster) -> None:
    """Wipe the brokers and the controller, then start them as a new, empty cluster."""
    nodes = dict.fromkeys([*cluster.brokers, *cluster.description.controllers])
    for node in nodes:
        if cluster.state(node) != "exited":
            cluster.kill(node)  # nothing of it is kept, so nothing has to end in good order
        cluster.wipe(node)
    for node in reversed(nodes):  # the controller first
        cluster.restart(node)
    cluster.wait_for_brokers()
