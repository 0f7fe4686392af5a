"""Live views for JupyterLab, with a button for every fault.

    from kafkalab import panel

    panel.show(cluster, "rides")  # the partitions of this topic stand first
    panel.show_group(cluster, "orders", team, start=hire)  # a group and its members

Looking and breaking happen in threads of the panel's own: the cell ends at once, and the buttons
work while another cell runs. Without a browser (papermill, nbclient, a plain Python) nothing is
watched and nothing runs. The panel of a cluster is then a sentence that says so, and that of a
group is what was seen when it was shown.
"""

from __future__ import annotations

from typing import Any

from kafkalab.cluster.cluster import Cluster
from kafkalab.cluster.glance import Glance
from kafkalab.notebook import page
from kafkalab.notebook.panel import changes, offers
from kafkalab.notebook.panel.group import GroupPanel, show_group
from kafkalab.notebook.panel.live import Live, stop_earlier
from kafkalab.notebook.panel.widgets import NodeRow, Widgets

__all__ = ["GroupPanel", "Panel", "show", "show_group"]

# The engine's words for a process that is not there.
STATES = {"exited": "stopped", "absent": "stopped"}


def show(cluster: Cluster, *topics: str) -> Panel:
    """The panel of a cluster, as the last line of a cell. A former one of this cluster stops.

    `topics` are those that the page is about: they stand first, in this order.
    """
    _ = cluster.engine  # a closed cluster says so
    stop_earlier(cluster, "This panel has stopped: another one of this cluster was opened.")
    return Panel(cluster, topics)


class Panel(Live):
    """Made by `show`. `buttons` holds each button by its fault and node: `buttons["kill", 0]`.

    A fault and its undoing share a button, which offers the one that makes sense now.
    """

    def __init__(self, cluster: Cluster, topics: tuple[str, ...] = ()) -> None:
        super().__init__(cluster, cluster)
        self._profile = cluster.profile
        self._widgets: Widgets | None = None
        self._states: dict[str, str] = {}
        self._seen = Glance()
        if page.can_show_widgets():
            self._widgets = Widgets(
                self._profile,
                _nodes(cluster),
                offers.places(cluster.has_gateway),
                self._press,
                topics,
            )
            self._begin(self._widgets, self._profile)

    @property
    def buttons(self) -> dict[tuple[str, int], Any]:
        """Fault and node id -> the button, an ipywidgets Button."""
        return self._widgets.buttons if self._widgets else {}

    def __repr__(self) -> str:
        return (
            f"Panel of the {self._profile} cluster: in JupyterLab it shows brokers, partitions and "
            "groups live, with a button for every fault. Here is no JupyterLab that could show it."
        )

    def _look(self) -> None:
        if self._widgets is None:
            return
        cut_off = self._cluster.cut_off
        states, offered = {}, {}
        for node in self._widgets.nodes:
            state = self._cluster.state(node.id)
            state = STATES.get(state, state)
            offered[node.id] = offers.now(state, node.id in cut_off)
            states[node.name] = "cut" if state == "running" and node.id in cut_off else state
        seen = self._cluster.glance()
        happened = changes.of_processes(self._states, states)
        happened += changes.of_cluster(self._seen, seen)
        self._states = states
        if seen.members is not None:
            # With nobody to ask, what was known last is what the next answer is compared with.
            self._seen = seen
        self._widgets.offer(offered)
        self._widgets.show(states, seen)
        self._widgets.tell(*happened)

    def _press(self, fault: str, node: NodeRow) -> None:
        self._order(f"{fault} {node.name}", lambda: getattr(self._cluster, fault)(node.id))


def _nodes(cluster: Cluster) -> list[NodeRow]:
    """Brokers first, then the controllers that are nothing else."""
    brokers = cluster.description.brokers
    return [
        NodeRow(
            id=service.node,
            name=f"{'broker' if service.node in brokers else 'controller'} {service.node}",
            address=cluster.addresses.get(service.node),
            rack=service.environment.get("KAFKA_BROKER_RACK"),
        )
        for service in sorted(
            cluster.description.kafka, key=lambda one: (one.node not in brokers, one.node)
        )
    ]
