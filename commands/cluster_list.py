"""How clusters are shown to a person: a line for each, and a table of its nodes.

Nothing depends on the width of the window: the lines are short, and what is there to be copied, an
address, is never cut.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kafkalab.cluster.inventory import Running


@dataclass(frozen=True)
class Node:
    """A service of a cluster; one that takes no clients has no address."""

    name: str
    state: str
    address: str


def shown(cluster: Running, nodes: Iterable[Node]) -> RenderableType:
    """What `./course status` prints of one cluster; one that is about to start has no nodes."""
    minutes = f", {(time.time() - cluster.since) / 60:.0f} minutes" if cluster.since else ""
    engine = f", engine {cluster.engine}" if cluster.engine else ""
    head = f"slot {cluster.slot}: {cluster.profile}{engine}, {_owner(cluster)}{minutes}"
    table = Table("node", "state", "address", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for node in nodes:
        table.add_row(*(Text(part, no_wrap=True) for part in (node.name, node.state, node.address)))
    return Group(Text(head), *([Padding(table, (0, 0, 0, 2))] if table.row_count else []))


def print_all(clusters: Iterable[tuple[Running, Iterable[Node]]], console: Console) -> None:
    for cluster, nodes in clusters:
        console.print(shown(cluster, nodes))


def _owner(cluster: Running) -> str:
    if not cluster.held:
        return "a leftover of nobody"
    return "of ./course up" if cluster.owner is None else f"of process {cluster.owner}"
