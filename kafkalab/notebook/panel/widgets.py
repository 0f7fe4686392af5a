"""The widgets of a panel: what it shows, and what can be pressed."""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from html import escape, unescape

import ipywidgets

from kafkalab import tables
from kafkalab.cluster.glance import Glance
from kafkalab.draw.charts import COLOURS
from kafkalab.notebook.asking import heard_while_a_cell_runs

# Lines of the log; the newest stands first.
REMEMBERED = 16
# A word, a sign and a colour: each of them says the same.
SIGNS = {
    "running": ("●", "blue"),
    "paused": ("‖", "orange"),
    "stopped": ("✕", "red"),
    "cut": ("⊘", "pink"),
}
MEANINGS = {
    "stop": "a controlled shutdown",
    "kill": "the process is gone, without a good-bye",
    "pause": "freeze it; its connections stay open",
    "resume": "let a paused one go on",
    "restart": "start it; stop it first if it runs",
    "cut": "take it off the network; it goes on running",
    "heal": "put it back on the network",
}
# Labels of one width put the buttons of all nodes below each other.
LABEL = "33em"
TABLE_HEIGHT = "24em"


@dataclass(frozen=True)
class NodeRow:
    """A node as the panel names it; `address` is None for one that clients do not reach."""

    id: int
    name: str
    address: str | None
    rack: str | None


class Widgets:
    """May be told things by several threads. A widget sends only what has changed."""

    def __init__(
        self,
        title: str,
        nodes: list[NodeRow],
        faults: tuple[str, ...],
        press: Callable[[str, NodeRow], None],
    ) -> None:
        self.nodes = nodes
        self.buttons: dict[tuple[str, int], ipywidgets.Button] = {}
        self._labels = {node.name: _html() for node in nodes}
        self._status, self._partitions, self._groups, self._log = (_html() for _ in range(4))
        self._lines: deque[str] = deque(maxlen=REMEMBERED)
        self._lock = threading.Lock()
        self._ended = False
        self._press = press
        self._title = f"The {title} cluster, live"
        self._note("Looking at it for the first time.")
        for node in nodes:
            for fault in faults:
                button = ipywidgets.Button(
                    description=f"{fault} {node.id}",
                    tooltip=f"{fault} {node.name}: {MEANINGS[fault]}",
                    layout=ipywidgets.Layout(width="auto", min_width="5.5em"),
                )
                button.on_click(lambda _, fault=fault, node=node: self._pressed(fault, node))
                heard_while_a_cell_runs(button)
                self.buttons[fault, node.id] = button
        rows = [
            ipywidgets.HBox(
                [self._labels[node.name], *(self.buttons[fault, node.id] for fault in faults)],
                layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center"),
            )
            for node in nodes
        ]
        # The box scrolls and not the table, so that a table that changes stays where it was.
        scrolled = ipywidgets.Box(
            [self._partitions],
            layout=ipywidgets.Layout(max_height=TABLE_HEIGHT, overflow="auto", flex="0 0 auto"),
            tabbable=True,
        )
        self.box = ipywidgets.VBox([self._status, *rows, scrolled, self._groups, self._log])

    @property
    def text(self) -> str:
        """What it shows, without its form."""
        parts = [self._status, *self._labels.values(), self._partitions, self._groups, self._log]
        return "\n".join(_plain(part.value) for part in parts if part.value)

    def show(self, states: Mapping[str, str], seen: Glance) -> None:
        """`states` by the names of the nodes."""
        with self._lock:
            if self._ended:
                return
            self._note("" if seen.members is not None else "No broker answers.")
            for node in self.nodes:
                self._labels[node.name].value = _label(node, states[node.name], seen)
            # What no broker can tell stays as it was; the note says that nobody answers.
            if seen.members is not None:
                self._partitions.value = _partitions(seen)
                self._groups.value = _groups(seen)

    def tell(self, *sentences: str) -> None:
        """Write into the log what happened now."""
        if not sentences:
            return
        now = f"{datetime.now():%H:%M:%S}"
        with self._lock:
            self._lines.extendleft(f"{now} {sentence}" for sentence in sentences)
            lines = "".join(f"<div>{escape(line)}</div>" for line in self._lines)
            self._log.value = f'<div role="log"><b>What happened, newest first</b>{lines}</div>'

    def warn(self, sentence: str) -> None:
        """Say it where the state stands, until the next look."""
        with self._lock:
            if not self._ended:
                self._note(sentence)

    def end(self, why: str) -> None:
        """Nothing can be pressed any more."""
        with self._lock:
            self._ended = True
            self._note(why)
            for button in self.buttons.values():
                button.disabled = True

    def _pressed(self, fault: str, node: NodeRow) -> None:
        self.tell(f"you pressed: {fault} {node.name}")
        self._press(fault, node)

    def _note(self, sentence: str) -> None:
        self._status.value = (
            f"<b>{escape(self._title)}</b> <span role='status'>{escape(sentence)}</span>"
        )


def _html() -> ipywidgets.HTML:
    part = ipywidgets.HTML()
    # JupyterLab's own look for tables, in its light and its dark theme.
    part.add_class("jp-RenderedHTMLCommon")
    return part


def _label(node: NodeRow, state: str, seen: Glance) -> str:
    sign, colour = SIGNS[state]
    facts = [node.address, f"rack {node.rack}" if node.rack else None]
    if node.address and seen.members is not None:
        facts.append("counted in" if node.id in seen.members else "counted out")
    rest = ", ".join(fact for fact in facts if fact)
    return (
        f"<div style='width: {LABEL}'>"
        f"<span aria-hidden='true' style='color: {COLOURS[colour]}'>{sign}</span> "
        f"<b>{escape(node.name)} {state}</b> {escape(rest)}</div>"
    )


def _partitions(seen: Glance) -> str:
    rows = [
        (topic, partition, p.leader, p.epoch, p.replicas, _in_sync(p.replicas, p.isr), p.end)
        for (topic, partition), p in seen.partitions.items()
    ]
    if not rows:
        return "There is no topic yet."
    columns = ("topic", "partition", "leader", "epoch", "replicas", "in sync", "end offset")
    return tables.html("Partitions", columns, rows)


def _in_sync(replicas: list[int], isr: list[int]) -> str:
    missing = [replica for replica in replicas if replica not in isr]
    return tables.show(isr) + (f" (without {tables.show(missing)})" if missing else "")


def _groups(seen: Glance) -> str:
    if seen.groups is None:
        return "Groups are not known while a broker that may coordinate one does not answer."
    rows = [
        (name, group.state, topic, lag)
        for name, group in seen.groups.items()
        for topic, lag in (group.lag.items() or [(None, None)])
    ]
    if not rows:
        return "There is no consumer group yet."
    return tables.html("Consumer groups", ("group", "state", "topic", "lag"), rows)


def _plain(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", html)).split())
