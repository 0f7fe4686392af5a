"""A live view of a cluster for JupyterLab, with a button for every fault.

    from kafkalab import panel

    panel.show(cluster, "rides")  # the partitions of this topic stand first

Looking and breaking happen in threads of the panel's own: the cell ends at once, and the buttons
work while another cell runs. Without a browser (papermill, nbclient, a plain Python) nothing is
watched and nothing runs; the panel is then a sentence that says so.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from queue import Queue
from typing import Any

from kafkalab.cluster.cluster import Cluster
from kafkalab.cluster.glance import Glance
from kafkalab.errors import CourseError
from kafkalab.notebook import page
from kafkalab.notebook.panel import changes, offers
from kafkalab.notebook.panel.widgets import NodeRow, Widgets

__all__ = ["Panel", "show"]

# Seconds from the end of one look to the next.
EVERY = 0.5
# The engine's words for a process that is not there.
STATES = {"exited": "stopped", "absent": "stopped"}

_OPEN: dict[Cluster, Panel] = {}


def show(cluster: Cluster, *topics: str) -> Panel:
    """The panel of a cluster, as the last line of a cell. A former one of this cluster stops.

    `topics` are those that the page is about: they stand first, in this order.
    """
    _ = cluster.engine  # a closed cluster says so
    if cluster in _OPEN:
        _OPEN[cluster].stop("This panel has stopped: another one of this cluster was opened.")
    return Panel(cluster, topics)


class Panel:
    """Made by `show`. `buttons` holds each button by its fault and node: `buttons["kill", 0]`.

    A fault and its undoing share a button, which offers the one that makes sense now.
    """

    def __init__(self, cluster: Cluster, topics: tuple[str, ...] = ()) -> None:
        self._cluster = cluster
        self._topics = topics
        self._profile = cluster.profile
        self._widgets: Widgets | None = None
        self._over = threading.Event()
        self._wake = threading.Event()
        self._orders: Queue[tuple[str, NodeRow] | None] = Queue()
        self._threads: list[threading.Thread] = []
        self._states: dict[str, str] = {}
        self._seen = Glance()
        if page.can_show_widgets():
            self._begin()

    def _begin(self) -> None:
        widgets = Widgets(
            self._profile,
            _nodes(self._cluster),
            offers.places(self._cluster.has_gateway),
            self._press,
            self._topics,
        )
        self._widgets = widgets
        _OPEN[self._cluster] = self
        for number, work in enumerate((self._watch, self._obey)):
            thread = threading.Thread(
                target=work,
                args=(widgets,),
                name=f"panel of {self._profile} {number}",
                daemon=True,
            )
            self._threads.append(thread)
            thread.start()

    @property
    def buttons(self) -> dict[tuple[str, int], Any]:
        """Fault and node id -> the button, an ipywidgets Button."""
        return self._widgets.buttons if self._widgets else {}

    @property
    def text(self) -> str:
        """What the panel shows at this moment, without its form."""
        return self._widgets.text if self._widgets else repr(self)

    @property
    def running(self) -> bool:
        """Whether one of its threads still works; False where there is no JupyterLab."""
        return any(thread.is_alive() for thread in self._threads)

    def stop(self, why: str = "This panel has stopped.") -> None:
        """End watching; what was seen last stays on the page, with the reason. Safe to call twice.

        A fault that is under way goes on to its end, those after it are dropped.
        """
        if self._widgets is None or self._over.is_set():
            return
        self._over.set()
        self._wake.set()
        self._orders.put(None)
        if _OPEN.get(self._cluster) is self:
            del _OPEN[self._cluster]
        self._widgets.end(why)

    def __repr__(self) -> str:
        return (
            f"Panel of the {self._profile} cluster: in JupyterLab it shows brokers, partitions and "
            "groups live, with a button for every fault. Here is no JupyterLab that could show it."
        )

    def _repr_mimebundle_(self, **formats: Any) -> dict[str, Any]:
        view = self._widgets.box._repr_mimebundle_() if self._widgets else {}
        return {**view, "text/plain": repr(self)}

    # --- In threads ----------------------------------------------------------------------------

    def _watch(self, widgets: Widgets) -> None:
        while not self._over.is_set():
            self._wake.clear()
            try:
                self._look(widgets)
            except Exception as error:
                if self._cluster.closed:
                    self.stop("This cluster is closed. Run the cell that starts it again.")
                else:
                    # Also what a cluster that dies says first is a sentence, and not a traceback.
                    widgets.warn(_sentence(error))
            self._wake.wait(EVERY)

    def _look(self, widgets: Widgets) -> None:
        cut_off = self._cluster.cut_off
        states, offered = {}, {}
        for node in widgets.nodes:
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
        widgets.offer(offered)
        widgets.show(states, seen)
        widgets.tell(*happened)

    def _press(self, fault: str, node: NodeRow) -> None:
        self._orders.put((fault, node))

    def _obey(self, widgets: Widgets) -> None:
        """One fault after the other, in the order in which they were pressed."""
        while (order := self._orders.get()) and not self._over.is_set():
            fault, node = order
            began = time.monotonic()
            try:
                getattr(self._cluster, fault)(node.id)
            except Exception as error:
                widgets.tell(f"{fault} {node.name}: {_sentence(error)}")
            else:
                widgets.tell(f"{fault} {node.name}: done in {time.monotonic() - began:.1f} s")
            self._wake.set()


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


def _sentence(error: Exception) -> str:
    if isinstance(error, CourseError):
        return " ".join(error.lines())
    return f"{type(error).__name__}: {error}"


@atexit.register
def _stop_all() -> None:
    for panel in list(_OPEN.values()):
        panel.stop()
        for thread in panel._threads:
            thread.join(2)


# The threads of a parent do not run in its child.
os.register_at_fork(after_in_child=_OPEN.clear)
