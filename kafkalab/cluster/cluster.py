"""A real Kafka cluster, started in one line and broken on purpose in the next."""

from __future__ import annotations

import atexit
import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from kafkalab import clients, tables
from kafkalab.cluster import launch
from kafkalab.cluster.networked import Networked
from kafkalab.cluster.observed import Observed
from kafkalab.engine import Engine, ToolResult
from kafkalab.engine.compose import Description
from kafkalab.engine.slot import Slot
from kafkalab.engine.watcher import Guard
from kafkalab.errors import CourseError
from kafkalab.wait import WaitTimeout, wait_until

RUNNING = ("running", "paused")

# The clusters that this process started and has not closed, by profile (and slot, where several).
_OPEN: dict[str, Cluster] = {}


class Cluster(Observed, Networked):
    """Made by `Cluster.start` or `Cluster.attach`.

    A node is named by its id (a broker: 0, 1, 2) or by the name of its service ("controller").
    """

    def __init__(self, launched: launch.Launched) -> None:
        self.description: Description = launched.description
        self.slot: Slot = launched.slot
        self.started_in = 0.0
        self._engine: Engine | None = launched.engine
        # Only who started a cluster holds its guard, and only the holder may end it.
        self._guard: Guard | None = launched.guard
        self._gateway = launched.gateway
        self._order = list(self.description.brokers)
        self._paused: set[int] = set()
        # Cut off from clients or from the others: what it says of the cluster is old, if it says
        # anything.
        self._apart: set[int] = set()

    # --- Life ----------------------------------------------------------------------------------

    @classmethod
    def start(
        cls,
        profile: str,
        engine: str | None = None,
        settings: Mapping[str, object] | None = None,
        timeout: float = 60,
        beside: bool = False,
        gateway: bool = False,
    ) -> Cluster:
        """Start the cluster that docker-compose.yml describes under this name.

        `settings` are broker settings on top of the file's. Returns when every broker knows that
        all of them are there. A cluster of this profile that the same process started before (a
        cell that is run again) is closed first, unless the new one is to run `beside` it. With
        `gateway` what clients and nodes send passes through a gateway, which can be told to fail.
        With KAFKALAB_CLUSTER set, the running cluster that it names is used instead.
        """
        began = time.monotonic()
        chosen = {name: _property(value) for name, value in (settings or {}).items()}
        if record := os.environ.get("KAFKALAB_CLUSTER"):
            return cls(launch.attach(Path(record), profile, chosen, gateway))
        if profile in _OPEN and not beside:
            _OPEN[profile].close()
        for last in (False, False, True):
            cluster = cls(launch.start(profile, engine, chosen, gateway))
            _OPEN[f"{profile} in slot {cluster.slot.number}" if beside else profile] = cluster
            try:
                cluster._wait_for_start(timeout)
                break
            except launch.PortTaken as error:
                # Somebody took it after the slot found it free. The next slot has others.
                cluster.close()
                if last:
                    raise
                print(error.what)
            except BaseException:
                cluster.close()
                raise
        cluster.started_in = time.monotonic() - began
        return cluster

    @classmethod
    def attach(cls, where: str | Path | int) -> Cluster:
        """A cluster that another process started: its slot, its folder or its cluster.json."""
        return cls(launch.attach(where))

    def keep(self) -> None:
        """Let the cluster outlive this process, until `./course down`."""
        if self._guard is not None:
            launch.describe(self.slot, self.description, self.engine_name, self._guard, owner=None)
            self._guard.keep()
            self._guard = None
            self._leave()

    def close(self) -> None:
        """Stop everything that this cluster runs and forget its data. Safe to call twice.

        One that another process started is left alone.
        """
        if self.closed:
            return
        clients.close_all(self.addresses.values())
        self._leave()
        # Closed for other threads from here on: none of them may start a node again.
        engine, self._engine = self.engine, None
        if self._guard is None:
            return
        try:
            engine.down()
        except BaseException:
            self._engine = engine  # to be closed once more
            raise
        if self._gateway is not None:
            self._gateway.close()
        self._guard.dismiss()
        self.slot.release()

    def _leave(self) -> None:
        """No longer one of those that this process has to close."""
        for name in [name for name, cluster in _OPEN.items() if cluster is self]:
            del _OPEN[name]

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- Facts ---------------------------------------------------------------------------------

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            raise CourseError(
                f"This {self.profile} cluster is closed.",
                "It was stopped and its data is gone.",
                "Run the cell that starts it again.",
            )
        return self._engine

    @property
    def closed(self) -> bool:
        return self._engine is None

    @property
    def profile(self) -> str:
        return self.description.profile

    @property
    def engine_name(self) -> str:
        return self.engine.name

    @property
    def brokers(self) -> list[int]:
        """The ids of the brokers that the profile describes, alive or not."""
        return sorted(self.description.brokers)

    @property
    def addresses(self) -> dict[int, str]:
        """Broker id -> the address for clients of this machine."""
        return self.description.addresses

    @property
    def address(self) -> str:
        """What a client takes as `bootstrap_servers`."""
        return ",".join(self.addresses.values())

    # --- Faults --------------------------------------------------------------------------------

    def stop(self, node: int | str) -> None:
        """A controlled shutdown: a broker hands its leaders over, then its process ends."""
        service = self._service(node)
        self.engine.stop(service)
        self._forget_pause(service)
        if service in self._broker_services():
            broker = self.description.service(service).node
            others = [other for other in self._alive() if other != broker]
            # The others hear of it a moment later. Without a controller they never do.
            with contextlib.suppress(WaitTimeout):
                self._wait_for_agreement(others, lambda alive: broker not in alive, 2)

    def kill(self, node: int | str) -> None:
        """The process is gone, without a good-bye. The cluster notices when heartbeats stay out."""
        service = self._service(node)
        self.engine.kill(service)
        self._forget_pause(service)

    def pause(self, node: int | str) -> None:
        """Freeze a node. Its connections stay open and nothing comes through them."""
        service = self._service(node)
        self.engine.pause(service)
        self._paused.add(self.description.service(service).node)

    def resume(self, node: int | str) -> None:
        """Let a frozen node go on where it was."""
        service = self._service(node)
        self.engine.resume(service)
        self._forget_pause(service)

    def wipe(self, node: int | str) -> None:
        """Forget the disk of a node that is down."""
        self.engine.wipe(self._service(node))

    def restart(self, node: int | str, timeout: float = 60) -> None:
        """Start a node that is down; stop it first if it runs. Returns when it takes part again."""
        service = self._service(node)
        if self.engine.state(service) in RUNNING:
            self.stop(node)
        self.engine.start(service)
        described = self.description.service(service)
        if service in self._broker_services():
            self._wait_for_agreement(
                [described.node], lambda alive: described.node in alive, timeout
            )
        elif self._alive():
            wait_until(
                lambda: self.quorum().leader is not None,
                timeout=timeout,
                what="a quorum",
                not_yet=(WaitTimeout,),  # the view itself waits less long
            )

    def rolling_restart(self, timeout: float = 60) -> None:
        """Restart one broker after the other, each when the one before is in sync again."""
        for broker in self.brokers:
            self.restart(broker, timeout)
            self._wait_until_in_sync(broker, timeout)

    def mend(self, timeout: float = 60) -> None:
        """Undo every fault: all nodes run, the network is whole, each broker knows of the others.

        Leaders stay where the faults have put them.
        """
        self.heal_network()
        for service in self.description.kafka:
            state = self.engine.state(service.name)
            if state == "paused":
                self.resume(service.name)
            elif state != "running":
                self.restart(service.name, timeout)
        self.wait_for_brokers(timeout=timeout)

    # --- Tools and logs ------------------------------------------------------------------------

    def tool(
        self,
        script: str,
        *arguments: str,
        stdin: bytes | str | None = None,
        timeout: float = 60,
    ) -> ToolResult:
        """Run a program of Kafka's bin folder; `{bootstrap}` stands for the brokers' addresses.

        What it returns is for the caller to judge: a non-zero exit does not raise.
        """
        data = stdin.encode() if isinstance(stdin, str) else stdin
        return self.engine.tool(script, list(map(str, arguments)), data, timeout)

    def logs(self, node: int | str, lines: int = 50) -> str:
        """The last lines that a node logged."""
        return self.engine.logs(self._service(node), lines)

    def state(self, node: int | str) -> str:
        """`running`, `paused`, `exited` or `absent`: the process, not what the cluster thinks."""
        return self.engine.state(self._service(node))

    def __repr__(self) -> str:
        if self.closed:
            return f"{self.profile} (closed)"
        count = len(self.brokers)
        ready = f"ready in {self.started_in:.1f} s" if self.started_in else "attached"
        return (
            f"{self.profile} on {count} broker{'' if count == 1 else 's'} at {self.address} "
            f"({self.engine_name} engine, slot {self.slot.number}, {ready})"
        )

    def _repr_html_(self) -> str:
        if self.closed:
            return tables.html(repr(self), ("broker",), [])
        services = self.description.brokers
        rows = [
            (
                broker,
                self.addresses[broker],
                services[broker].environment.get("KAFKA_BROKER_RACK"),
                self.state(broker),
            )
            for broker in self.brokers
        ]
        return tables.html(repr(self), ("broker", "address", "rack", "process"), rows)

    def _wait_for_start(self, timeout: float) -> None:
        """Like `wait_for_brokers`, but a node that has ended is named at once.

        That brokers answer is not enough. Where another cluster took a port a moment ago, it is
        the other one that answers; so each node must have logged that it has started.
        """
        wanted, deadline = set(self.brokers), time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            try:
                self._wait_for_agreement(wanted, lambda alive: alive == wanted, min(left, 1))
                break
            except WaitTimeout:
                self._refuse_ended()
                if left <= 1:
                    raise
        wait_until(
            self._all_started,
            timeout=max(deadline - time.monotonic(), 5),
            what="every node to say that it has started",
            every=0.02,
        )

    def _all_started(self) -> bool:
        self._refuse_ended()
        return all(
            launch.STARTED in self.engine.logs(service.name, 2000)
            for service in self.description.kafka
        )

    def _refuse_ended(self) -> None:
        for service in self.description.services:
            if self.engine.state(service.name) == "exited":
                raise launch.why_ended(service.name, self.engine.logs(service.name, 400))

    def _wait_until_in_sync(self, broker: int, timeout: float) -> None:
        behind: list[str] = []

        def caught_up() -> bool:
            behind[:] = [
                f"{topic.name} {p.partition_index}"
                for topic in self._survey.ask_metadata(None).topics
                for p in topic.partitions
                if broker in p.replica_nodes and broker not in p.isr_nodes
            ]
            return not behind

        wait_until(
            caught_up,
            timeout=timeout,
            what=f"broker {broker} to be in sync again",
            seen=lambda: f"it is behind in {', '.join(behind[:5])}",
        )

    def _reachable(self) -> Mapping[int, str]:
        _ = self.engine  # a closed cluster says so
        silent = self._paused | self._apart
        return {b: self.addresses[b] for b in self._order if b not in silent}

    def _storage(self, broker: int, part: str) -> Path | None:
        return self.engine.storage(self._service(broker), part)

    def _alive(self) -> list[int]:
        return [b for b in self._reachable() if self.engine.state(self._service(b)) == "running"]

    def _broker_services(self) -> set[str]:
        return {service.name for service in self.description.brokers.values()}

    def _forget_pause(self, service: str) -> None:
        """A node that was away knows least for a while."""
        node = self.description.service(service).node
        self._paused.discard(node)
        self._asked_last(node)

    def _asked_last(self, node: int) -> None:
        if node in self._order:
            self._order.remove(node)
            self._order.append(node)

    def _service(self, node: int | str) -> str:
        """A node id or the name of a service -> the name of the service."""
        if isinstance(node, str):
            return self.description.service(node).name
        for service in self.description.kafka:
            if service.node == node:
                return service.name
        raise CourseError(
            f"The profile {self.profile} has no node {node}.", f"Its brokers are {self.brokers}."
        )


def _property(value: object) -> str:
    """`True` is `true` in a properties file."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@atexit.register
def _close_all() -> None:
    for cluster in list(_OPEN.values()):
        cluster.close()


# A forked child holds neither the slots nor the pipes of its parent's clusters.
os.register_at_fork(after_in_child=_OPEN.clear)
