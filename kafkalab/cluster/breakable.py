"""The nodes of a cluster and what can be done to them: every fault, and what undoes it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from kafkalab.cluster.network import Network
from kafkalab.cluster.nodes import Nodes
from kafkalab.cluster.waited import WHILE_IT_STARTS, Waited
from kafkalab.engine import Engine
from kafkalab.engine.compose import Description
from kafkalab.errors import CourseError
from kafkalab.gateway import Gateway
from kafkalab.wait import WaitTimeout, wait_until

RUNNING = ("running", "paused")


class Breakable(Waited):
    """The breaking part of `Cluster`.

    A node is named by its id (a broker: 0, 1, 2) or by the name of its service ("controller").
    """

    def __init__(self, description: Description, engine: Engine, gateway: Gateway | None) -> None:
        self.description = description
        self._engine: Engine | None = engine
        self._nodes = Nodes(description)
        self._network = Network(description, self._nodes, engine, gateway)

    @property
    def engine(self) -> Engine:
        """What runs the nodes; a CourseError once the cluster is closed."""
        if self._engine is None:
            raise CourseError(
                f"This {self.profile} cluster is closed.",
                "It was stopped and its data is gone.",
                "Run the cell that starts it again.",
            )
        return self._engine

    @property
    def closed(self) -> bool:
        """Whether `close` was called; then everything but the facts of the profile is an error."""
        return self._engine is None

    @property
    def profile(self) -> str:
        """The name in docker-compose.yml under which it was started."""
        return self.description.profile

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
        """What a client takes as `bootstrap_servers`; a CourseError once the cluster is closed."""
        _ = self.engine  # a client would try in vain for seconds, and could not say why
        return ",".join(self.addresses.values())

    # --- Faults ---------------------------------------------------------------------------------

    def stop(self, node: int | str) -> None:
        """A controlled shutdown: a broker hands its leaders over, then its process ends."""
        service = self._nodes.service(node)
        self.engine.stop(service.name)
        self._nodes.unpause(service.node)
        if self._nodes.is_broker(service):
            others = [other for other in self._alive() if other != service.node]
            # The others hear of it a moment later. Without a controller they never do.
            with contextlib.suppress(WaitTimeout):
                self._wait_for_agreement(others, lambda alive: service.node not in alive, 2)

    def kill(self, node: int | str) -> None:
        """The process is gone, without a good-bye. The cluster notices when heartbeats stay out."""
        service = self._nodes.service(node)
        self.engine.kill(service.name)
        self._nodes.unpause(service.node)

    def pause(self, node: int | str) -> None:
        """Freeze a node. Its connections stay open and nothing comes through them."""
        service = self._nodes.service(node)
        self.engine.pause(service.name)
        self._nodes.pause(service.node)

    def resume(self, node: int | str) -> None:
        """Let a frozen node go on where it was."""
        service = self._nodes.service(node)
        self.engine.resume(service.name)
        self._nodes.unpause(service.node)

    def wipe(self, node: int | str) -> None:
        """Forget the disk of a node that is down."""
        self.engine.wipe(self._service(node))

    def restart(self, node: int | str, timeout: float = 60) -> None:
        """Start a node that is down; stop it first if it runs. Returns when it takes part again."""
        service = self._nodes.service(node)
        if self.engine.state(service.name) in RUNNING:
            self.stop(node)
        self.engine.start(service.name)
        if self._nodes.is_broker(service):
            own = service.node
            self._wait_for_agreement([own], lambda alive: own in alive, timeout, WHILE_IT_STARTS)
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
        self.network.heal_all()
        for service, state in self.engine.states().items():
            if state == "paused":
                self.resume(service)
            elif state != "running":
                self.restart(service, timeout)
        self.wait_for_brokers(timeout=timeout)

    @property
    def network(self) -> Network:
        """What lies between the nodes and their clients."""
        _ = self.engine  # a closed cluster says so
        return self._network

    @property
    def has_gateway(self) -> bool:
        """Whether it was started with `gateway=True`."""
        return self._network.has_gateway

    @property
    def gateway(self) -> Gateway:
        """What clients and nodes said, and finer faults than `cut`."""
        return self.network.gateway

    @property
    def cut_off(self) -> frozenset[int]:
        """The ids of the nodes that `cut` took off the network."""
        return self._nodes.cut_off

    def cut(self, node: int | str, clients: bool = True, nodes: bool = True) -> None:
        """Take a node off the network; it goes on running, alone.

        Its connections with clients and with the other nodes break, and new ones fail. With
        `clients=False` clients still reach it while the cluster does not; with `nodes=False` it is
        the other way round. A CourseError where the cluster was started without a gateway.
        """
        self.network.cut(node, clients, nodes)

    def heal(self, node: int | str) -> None:
        """The node's network is whole again: undo `cut` and what the gateway was told about it."""
        self.network.heal(node)

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
        return self._nodes.reachable()

    def _storage(self, broker: int, part: str, indexes: bool) -> Path | None:
        return self.engine.storage(self._service(broker), part, indexes)

    def _alive(self) -> list[int]:
        states = self.engine.states()
        return [b for b in self._reachable() if states[self._service(b)] == "running"]

    def _service(self, node: int | str) -> str:
        return self._nodes.service(node).name
