"""Eyes and hands of a fault: it waits for what the cluster shows, and breaks things."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psutil

from grading.define.seed import Parameters
from grading.faults.left import LeftFile
from grading.faults.links import ports_of
from grading.judge.checks import Unseen
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from grading.judge.view import ClusterView
    from kafkalab.cluster.cluster import Cluster
    from kafkalab.gateway import Gateway


class NotReached(Exception):
    """The cell was over before it came to the fault. The text names what was awaited."""


class Breaker:
    """The argument of every fault: eyes and hands. `owner`: the process that runs the cell."""

    def __init__(
        self,
        cluster: Cluster | None,
        kafka: ClusterView | None,
        p: Parameters,
        owner: int,
    ) -> None:
        self.p = p
        self.began = time.monotonic()
        self.steps: list[tuple[float, str]] = []
        self.kept: dict[str, Any] = {}
        """What was seen on the way, as JSON carries it: `x.kept(task)` of a check."""
        self.is_over = threading.Event()
        self._cluster = cluster
        self._kafka = kafka
        self._owner = owner
        self._frozen: list[psutil.Process] = []
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

    def process(self, word: str) -> psutil.Process | None:
        """The youngest process of the student's cell that has this word among its arguments.

        One that an earlier cell left behind may bear the same name.
        """
        return _youngest(self.processes(word))

    def client(self, word: str) -> psutil.Process | None:
        """The same among those that are connected to a broker: not what only bears the name."""
        ports = {int(one.rpartition(":")[2]) for one in self.cluster.address.split(",")}
        return _youngest([one for one in self.processes(word) if ports & ports_of(one)])

    def processes(self, word: str) -> list[psutil.Process]:
        """All processes of the student's cell that have this word among their arguments."""
        found = []
        with suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self._owner).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    if word in process.cmdline():
                        found.append(process)
        return found

    def kill_client(self, word: str) -> int:
        """SIGKILL for a client of the student's. Returns when that was, in ms as brokers date.

        A process that bears the name beside the client is none, and is not reached.
        It does nothing more from then on; that it has ended shows some milliseconds later.
        """
        with self._found(word, "that is connected to a broker", self.client) as process:
            process.kill()
        self.note(f"process {word} killed")
        return int(time.time() * 1000)

    def kill_process(self, word: str) -> None:
        """SIGKILL for a process of the student's; no chance to say good-bye."""
        with self._found(word) as process:
            process.kill()
        self.note(f"process {word} killed")

    def stop_process(self, word: str) -> None:
        """SIGTERM for a process of the student's: it may say good-bye, or not listen."""
        with self._found(word) as process:
            process.terminate()
        self.note(f"process {word} asked to end")

    def freeze_process(self, word: str) -> None:
        """Let a process of the student's stand still; it goes on when the cell is over, at last."""
        with self._found(word) as process:
            process.suspend()
        self._frozen.append(process)
        self.note(f"process {word} frozen")

    @contextmanager
    def nobody_but(self, *words: str) -> Iterator[None]:
        """Of the student's, only the processes of these words run on, and what they have started.

        What comes about meanwhile is their work. Who practises runs this fault in the notebook's
        own process, which also keeps the cluster: there everything goes on.
        """
        frozen = self._freeze_all_but(words) if self._owner != os.getpid() else []
        try:
            yield
        finally:
            self._thaw(frozen)

    def halt(self, word: str) -> None:
        """Let a process and those below it stand still until `go_on`, or the end of the cell."""
        self._frozen += [one for one in self._with_those_of(word) if _suspended(one)]

    def go_on(self, word: str) -> None:
        """The end of `halt`."""
        self._thaw(self._with_those_of(word))

    def _freeze_all_but(self, words: tuple[str, ...]) -> list[psutil.Process]:
        """From the top down, and again until nobody has come meanwhile. Who stands still now."""
        known = {process for word in words for process in self._with_those_of(word)}
        frozen: list[psutil.Process] = []
        while new := [one for one in _with_those_below(self._owner) if one not in known]:
            known.update(new)
            now = [one for one in new if _suspended(one)]
            frozen += now
            self._frozen += now
        return frozen

    def _with_those_of(self, word: str) -> list[psutil.Process]:
        process = self.process(word)
        return [] if process is None else _with_those_below(process.pid)

    def thaw_processes(self) -> None:
        """Let every process go on that was frozen."""
        self._thaw(list(self._frozen))

    def _thaw(self, processes: list[psutil.Process]) -> None:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()
        self._frozen = [one for one in self._frozen if one not in processes]

    def mend(self) -> None:
        """Let everything go on that was frozen, and make the cluster whole."""
        self.thaw_processes()
        if self._cluster is not None:
            self._cluster.mend()

    @contextmanager
    def _found(
        self,
        word: str,
        that: str = "",
        look: Callable[[str], psutil.Process | None] | None = None,
    ) -> Iterator[psutil.Process]:
        """The process of this word; one that is not there, or just ends, was not reached."""
        unreached = NotReached(f"a process with {word!r} among its arguments {that}".strip())
        process = (look or self.process)(word)
        if process is None:
            raise unreached
        try:
            yield process
        except psutil.NoSuchProcess:
            raise unreached from None

    def _each(self, done: str, brokers: tuple[int, ...], do: Callable[[int], None]) -> None:
        for broker in brokers:
            do(broker)
            # One that comes back is not noted: it may well be long about it.
            self._broken.add(broker)
            self.note(f"broker {broker} {done}")


def _youngest(processes: list[psutil.Process]) -> psutil.Process | None:
    return max(processes, key=lambda one: (one.create_time(), one.pid), default=None)


def _suspended(process: psutil.Process) -> bool:
    """Stop it; false where it is gone, or nobody may."""
    with suppress(psutil.Error):
        process.suspend()
        return True
    return False


def _with_those_below(owner: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        top = psutil.Process(owner)
        return [top, *top.children(recursive=True)]
    return []
