"""How clusters are shown to a person: a sentence for each, and a line for each of its nodes.

So no word is cut in a narrow window, and an address stands whole, to be copied.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console

from kafkalab.cluster.inventory import Running


class Node(NamedTuple):
    """A service of a cluster; one that takes no clients has no address."""

    name: str
    state: str
    address: str


def show(cluster: Running, nodes: Sequence[Node], console: Console) -> None:
    """Print one cluster; a leftover, or one that is about to start, may have no nodes."""
    engine = f", engine {cluster.engine}" if cluster.engine else ""
    minutes = f", {(time.time() - cluster.since) / 60:.0f} min" if cluster.since else ""
    what = f"slot {cluster.slot}: {cluster.profile}{engine}"
    if cluster.by:  # names of notebooks are long
        console.print(f"{what}{minutes}", markup=False)
        console.print(f"  {cluster.holder}", markup=False)
    else:
        console.print(f"{what}, {cluster.holder}{minutes}", markup=False)
    widest = [max((len(part) for part in column), default=0) for column in zip(*nodes, strict=True)]
    for node in nodes:
        padded = (part.ljust(width) for part, width in zip(node, widest, strict=True))
        # What is too long even so goes on in the next line of the window.
        console.print(f"  {'  '.join(padded)}".rstrip(), markup=False, soft_wrap=True)
