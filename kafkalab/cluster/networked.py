"""A cluster whose network can be broken: what needs a gateway."""

from __future__ import annotations

from kafkalab.engine import Engine
from kafkalab.engine.compose import Description
from kafkalab.errors import CourseError
from kafkalab.gateway import Gateway


class Networked:
    """The part of `Cluster` that stands on its gateway."""

    description: Description
    _gateway: Gateway | None
    _apart: set[int]

    @property
    def engine(self) -> Engine:
        raise NotImplementedError

    @property
    def has_gateway(self) -> bool:
        return self._gateway is not None

    @property
    def cut_off(self) -> frozenset[int]:
        """The ids of the nodes that `cut` took off the network."""
        return frozenset(self._apart)

    @property
    def gateway(self) -> Gateway:
        """What clients and nodes said, and finer faults than `cut`."""
        _ = self.engine  # a closed cluster says so
        if self._gateway is None:
            raise CourseError(
                "This cluster has no gateway.",
                "One has to be there when a cluster starts.",
                f'Start it so: Cluster.start("{self.description.profile}", gateway=True)',
            )
        return self._gateway

    def cut(self, node: int | str, clients: bool = True, nodes: bool = True) -> None:
        """Take a node off the network; it goes on running, alone.

        Its connections with clients and with the other nodes break, and new ones fail. With
        `clients=False` clients still reach it while the cluster does not; with `nodes=False` it is
        the other way round.
        """
        gateway, service = self.gateway, self._service(node)
        number = self.description.service(service).node
        if nodes:
            self._apart.add(number)
            if gateway.covers_nodes:
                gateway.isolate(number)
            else:
                self.engine.disconnect(service)
        if clients and self.description.service(service).ports:
            self._apart.add(number)
            gateway.cut(number)

    def heal(self, node: int | str) -> None:
        """The node's network is whole again: undo `cut` and what the gateway was told about it."""
        service = self._service(node)
        number = self.description.service(service).node
        self._connect(service)
        self.gateway.heal(number)
        self._apart.discard(number)
        self._asked_last(number)

    def heal_network(self) -> None:
        """Undo every `cut` and all that the gateway was told, by whichever process."""
        if self._gateway is None:
            return
        for service in self.description.kafka:
            self._connect(service.name)
        self._gateway.heal()
        for number in self.cut_off:
            self._apart.discard(number)
            self._asked_last(number)  # it knows least for a while

    def _connect(self, service: str) -> None:
        if not self.gateway.covers_nodes:
            self.engine.connect(service)

    def _service(self, node: int | str) -> str:
        raise NotImplementedError

    def _asked_last(self, node: int) -> None:
        raise NotImplementedError
