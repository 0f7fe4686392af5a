"""The network of a cluster, which can be broken where there is a gateway."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalab.cluster.nodes import Nodes
from kafkalab.engine import Engine
from kafkalab.engine.compose import Description, Service
from kafkalab.errors import CourseError
from kafkalab.gateway import Gateway


class Network:
    """What lies between clients and nodes, and between the nodes of one cluster."""

    def __init__(
        self, description: Description, nodes: Nodes, engine: Engine, gateway: Gateway | None
    ) -> None:
        self._description = description
        self._nodes = nodes
        self._engine = engine
        self._gateway = gateway

    @property
    def has_gateway(self) -> bool:
        """Without one nothing here can be broken."""
        return self._gateway is not None

    @property
    def gateway(self) -> Gateway:
        """The gateway; a CourseError where the cluster was started without one."""
        if self._gateway is None:
            raise CourseError(
                "This cluster has no gateway.",
                "One has to be there when a cluster starts.",
                f'Start it so: Cluster.start("{self._description.profile}", gateway=True)',
            )
        return self._gateway

    def cut(self, node: int | str, clients: bool, nodes: bool) -> None:
        """Take a node off the network for clients, for the other nodes, or for both."""
        gateway, service = self.gateway, self._nodes.service(node)
        if nodes:
            self._nodes.cut(service.node)
            if own := self._engine.network_of_nodes:
                own.disconnect(service.name)
            else:
                gateway.isolate(service.node)
        if clients and service.ports:
            self._nodes.cut(service.node)
            gateway.cut(service.node)

    def heal(self, node: int | str) -> None:
        """Undo `cut` and what the gateway was told about this node."""
        gateway, service = self.gateway, self._nodes.service(node)
        self._connect([service])
        gateway.heal(service.node)
        self._nodes.heal(service.node)

    def heal_all(self) -> None:
        """Undo every `cut` and all that the gateway was told, by whichever process."""
        if self._gateway is None:
            return
        self._connect(self._description.kafka)
        self._gateway.heal()
        for node in self._nodes.cut_off:
            self._nodes.heal(node)

    def close(self) -> None:
        """End the gateway, which only who started it can."""
        if self._gateway is not None:
            self._gateway.close()

    def _connect(self, services: Sequence[Service]) -> None:
        if own := self._engine.network_of_nodes:
            own.connect(*(service.name for service in services))
