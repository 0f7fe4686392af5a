"""Which address of the gateway stands for which listener of a node."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

CLIENTS, NODES = "clients", "nodes"
FILE = "gateway.json"


@dataclass(frozen=True)
class Route:
    """Who connects to the port `listen` talks to the port `target`, both on 127.0.0.1.

    `between` tells for whom the listener is: clients, or the other nodes of the cluster.
    """

    node: int
    between: str
    listen: int
    target: int


def write(folder: Path, routes: Iterable[Route]) -> None:
    """Where the gateway and those who attach find them."""
    (folder / FILE).write_text(json.dumps([asdict(route) for route in routes], indent=1))


def read(folder: Path) -> list[Route]:
    """Empty where the cluster has no gateway."""
    try:
        return [Route(**entry) for entry in json.loads((folder / FILE).read_text())]
    except FileNotFoundError:
        return []
