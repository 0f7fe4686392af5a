"""The widgets of a panel: what it shows, and what can be pressed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape

import ipywidgets

from kafkalab import tables
from kafkalab.cluster.glance import Glance
from kafkalab.notebook.panel import board, changes
from kafkalab.notebook.panel.board import MARKED_FOR, html_part
from kafkalab.notebook.panel.offers import Place

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


class Widgets(board.LiveBoard):
    """The cluster's own: a row of buttons for each node, partitions, groups."""

    def __init__(
        self,
        title: str,
        nodes: list[NodeRow],
        places: tuple[Place, ...],
        press: Callable[[str, NodeRow], None],
        topics: tuple[str, ...] = (),
    ) -> None:
        """`places`: the buttons of each node, as the faults that one button may offer."""
        super().__init__(f"The {title} cluster, live")
        self.nodes = nodes
        self._topics = topics
        self._seen = Glance()
        self._marks: dict[tuple[str, int], tuple[str, float]] = {}
        self.buttons: dict[tuple[str, int], ipywidgets.Button] = {}
        self._labels = {node.name: html_part() for node in nodes}
        self._partitions, self._groups = html_part(), html_part()
        self._press = press
        rows = []
        for node in nodes:
            buttons = [self._button(place, node) for place in places]
            rows.append(
                ipywidgets.HBox(
                    [self._labels[node.name], *buttons],
                    layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center"),
                )
            )
        # The box scrolls and not the table, so that a table that changes stays where it was.
        scrolled = ipywidgets.Box(
            [self._partitions],
            layout=ipywidgets.Layout(max_height=TABLE_HEIGHT, overflow="auto", flex="0 0 auto"),
            tabbable=True,
        )
        self.box = ipywidgets.VBox([self._status, *rows, scrolled, self._groups, self._log])

    def _button(self, place: Place, node: NodeRow) -> ipywidgets.Button:
        """One button for a fault and its undoing: it stays where it is, and keeps the keyboard."""
        button = board.button()
        button.on_click(lambda _: self._pressed(button.description.split()[0], node))
        for fault in place:
            self.buttons[fault, node.id] = button
        self._offer(place[0], node, makes_sense=True)
        return button

    def _offer(self, fault: str, node: NodeRow, makes_sense: bool) -> None:
        tooltip = f"{fault} {node.name}: {MEANINGS[fault]}"
        board.offer(self.buttons[fault, node.id], fault, str(node.id), tooltip, makes_sense)

    @property
    def _parts(self) -> list[ipywidgets.HTML]:
        return [self._status, *self._labels.values(), self._partitions, self._groups, self._log]

    @property
    def _pressable(self) -> list[ipywidgets.Widget]:
        return list(self.buttons.values())

    def offer(self, offered: Mapping[int, Mapping[str, bool]]) -> None:
        """By node: the faults that stand on its buttons, and which of them make sense now."""
        with self._lock:
            if self._ended:
                return
            for node in self.nodes:
                for fault, makes_sense in offered[node.id].items():
                    if (fault, node.id) in self.buttons:
                        self._offer(fault, node, makes_sense)

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
                self._partitions.value = self._table(seen)
                self._groups.value = _groups(seen)

    def _table(self, seen: Glance) -> str:
        """The topics of the page first; what changed a moment ago says so."""
        now = time.monotonic()
        for place, words in changes.marks(self._seen, seen).items():
            self._marks[place] = words, now + MARKED_FOR
        self._seen = seen
        marks = {place: words for place, (words, until) in self._marks.items() if until > now}
        first = {topic: number for number, topic in enumerate(self._topics)}
        places = sorted(seen.partitions, key=lambda place: first.get(place[0], len(first)))
        return _partitions(seen, places, marks)

    def _pressed(self, fault: str, node: NodeRow) -> None:
        self.tell(f"you pressed: {fault} {node.name}")
        self._press(fault, node)


def _label(node: NodeRow, state: str, seen: Glance) -> str:
    facts = [node.address, f"rack {node.rack}" if node.rack else None]
    if node.address and seen.members is not None:
        facts.append("counted in" if node.id in seen.members else "counted out")
    rest = ", ".join(fact for fact in facts if fact)
    return (
        f"<div style='width: {LABEL}'>"
        f"{board.sign(state)} "
        f"<b>{escape(node.name)} {state}</b> {escape(rest)}</div>"
    )


def _partitions(
    seen: Glance, places: list[tuple[str, int]], marks: Mapping[tuple[str, int], str]
) -> str:
    rows = []
    for place in places:
        p = seen.partitions[place]
        in_sync = _in_sync(p.replicas, p.isr)
        rows.append((*place, p.leader, p.epoch, p.replicas, in_sync, p.end, marks.get(place, "")))
    if not rows:
        return "There is no topic yet."
    columns = ("topic", "partition", "leader", "epoch", "replicas", "in sync", "end offset")
    return tables.html("Partitions", (*columns, "just changed"), rows)


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
