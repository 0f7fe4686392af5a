"""Which node is meant, and which brokers may answer."""

from __future__ import annotations

from kafkalab.engine.compose import Description, Service
from kafkalab.errors import CourseError


class Nodes:
    """The nodes of one cluster, and what was done to them that the engine does not tell."""

    def __init__(self, description: Description) -> None:
        self._description = description
        self._order = list(description.brokers)
        self._paused: set[int] = set()
        self._cut_off: set[int] = set()

    @property
    def cut_off(self) -> frozenset[int]:
        """Those that were taken off the network, from clients or from the other nodes."""
        return frozenset(self._cut_off)

    def service(self, node: int | str) -> Service:
        """The service of a node, by its id or by the name of the service."""
        if isinstance(node, str):
            return self._description.service(node)
        for service in self._description.kafka:
            if service.node == node:
                return service
        raise CourseError(
            f"The profile {self._description.profile} has no node {node}.",
            f"Its brokers are {sorted(self._description.brokers)}.",
        )

    def is_broker(self, service: Service) -> bool:
        """Whether clients can talk to it; a controller alone is none."""
        return service.node in self._description.brokers

    def reachable(self) -> dict[int, str]:
        """Addresses of the brokers that may answer, the likeliest to know most first.

        What a node says of the cluster while it is cut off is old, if it says anything.
        """
        silent = self._paused | self._cut_off
        addresses = self._description.addresses
        return {broker: addresses[broker] for broker in self._order if broker not in silent}

    def pause(self, node: int) -> None:
        self._paused.add(node)

    def unpause(self, node: int) -> None:
        self._paused.discard(node)
        self._ask_last(node)

    def cut(self, node: int) -> None:
        self._cut_off.add(node)

    def heal(self, node: int) -> None:
        self._cut_off.discard(node)
        self._ask_last(node)

    def _ask_last(self, node: int) -> None:
        """A node that was away knows least for a while."""
        if node in self._order:
            self._order.remove(node)
            self._order.append(node)
