"""The widgets of a group's panel: members, partitions, and three buttons for the chosen member."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import ipywidgets

from kafkalab import tables
from kafkalab.cluster.views import GroupView
from kafkalab.notebook.asking import heard_while_a_cell_runs
from kafkalab.notebook.panel import board, offers
from kafkalab.notebook.panel.board import MARKED_FOR, SIGNS, html_part

Place = tuple[str, int]
Owners = Mapping[Place, str]
# A caption, the names of the columns, the rows: see `tables`.
Table = tuple[str, Sequence[str], list[tuple[object, ...]]]

MEANINGS = {
    "freeze": "it stands still, as a machine does that has too much to do",
    "thaw": "let it go on where it stood still",
    "kill": "its process is gone, without a good-bye",
    "start": "a new process of the same name",
}


class GroupBoard(board.LiveBoard):
    """Made for the members of these names; who else is in the group is shown too."""

    def __init__(
        self, group: str, names: Sequence[str], can_start: bool, press: Callable[[str, str], None]
    ) -> None:
        """press: what was pressed, and of which member."""
        super().__init__(f"The group {group}, live")
        self._can_start = can_start
        self._press = press
        self._states: dict[str, str] = {}
        self._owners: dict[Place, str] = {}
        self._marks: dict[Place, tuple[str, float]] = {}
        self._members, self._partitions = html_part(), html_part()
        # Not a list to unfold: there JupyterLab takes keys for its own commands.
        self.chosen = ipywidgets.RadioButtons(
            options=list(names),
            orientation="horizontal",
            layout=ipywidgets.Layout(width="max-content"),
        )
        self.chosen.observe(lambda _: self._choose(), "value")
        heard_while_a_cell_runs(self.chosen)
        self.buttons: dict[str, ipywidgets.Button] = {}
        shown = [self._button(place) for place in offers.OF_A_MEMBER]
        self._offer()
        self.box = ipywidgets.VBox(
            [
                self._status,
                _row(self.chosen, *shown, align="center"),
                _row(self._members, self._partitions, align="flex-start"),
                self._log,
            ]
        )

    @property
    def _parts(self) -> list[ipywidgets.HTML]:
        return [self._status, self._members, self._partitions, self._log]

    @property
    def _pressable(self) -> list[ipywidgets.Widget]:
        return [self.chosen, *self.buttons.values()]

    def show(self, states: Mapping[str, str], seen: GroupView | None, owners: Owners) -> None:
        """`states` by the names of the members; `seen` is None while no coordinator answers.

        `owners`: who had what when the group had last dealt everything out.
        """
        with self._lock:
            if self._ended:
                return
            self._states = dict(states)
            self._offer()
            self._note("Its coordinator does not answer." if seen is None else of_state(seen))
            # What no broker can tell stays as it was; the note says that nobody answers.
            if seen is not None:
                self._mark(owners)
                self._partitions.value = tables.html(*partitions(seen, self._marks_now()))
            self._members.value = tables.html(*members(states, seen))

    def _mark(self, owners: Owners) -> None:
        until = time.monotonic() + MARKED_FOR
        for place, name in owners.items():
            if self._owners and (before := self._owners.get(place, "nobody")) != name:
                self._marks[place] = f"was {before}", until
        self._owners = dict(owners)

    def _marks_now(self) -> dict[Place, str]:
        now = time.monotonic()
        return {place: words for place, (words, until) in self._marks.items() if until > now}

    def _button(self, place: offers.Place) -> ipywidgets.Button:
        """One button for a fault and its undoing: it stays where it is, and keeps the keyboard."""
        button = board.button()
        button.on_click(lambda _: self._pressed(button.description.split()[0]))
        for fault in place:
            self.buttons[fault] = button
        return button

    def _offer(self) -> None:
        name = self.chosen.value
        state = self._states.get(name, "running")
        for fault, makes_sense in offers.of_member(state, self._can_start).items():
            tooltip = f"{fault} {name}: {MEANINGS[fault]}"
            board.offer(self.buttons[fault], fault, name, tooltip, makes_sense)

    def _choose(self) -> None:
        with self._lock:
            heard_while_a_cell_runs(self.chosen)
            if not self._ended:
                self._offer()

    def _pressed(self, fault: str) -> None:
        name = self.chosen.value
        self.tell(f"you pressed: {fault} {name}")
        self._press(fault, name)


def owners_of(seen: GroupView) -> dict[Place, str]:
    """Partition -> client id, as the coordinator tells it at this moment."""
    return {
        (topic, partition): member.client
        for member in seen.members
        for topic, numbers in member.assignment.items()
        for partition in numbers
    }


def of_state(seen: GroupView) -> str:
    """How the group stands, in a sentence."""
    where = "" if seen.coordinator is None else f" Its coordinator is broker {seen.coordinator}."
    return f"It is {seen.state}, with {len(seen.members)} members.{where}"


def members(states: Mapping[str, str], seen: GroupView | None) -> Table:
    """The table of members: their processes, and what the group gave them."""
    counted = {member.client for member in seen.members} if seen else set()
    owners = owners_of(seen) if seen else {}
    rows: list[tuple[object, ...]] = []
    for name in [*states, *sorted(counted - set(states))]:
        state = states.get(name)
        process = "not of this page" if state is None else f"{SIGNS[state][0]} {state}"
        held = [place for place, reader in owners.items() if reader == name]
        known = [seen.lag.get(place) for place in held] if seen else []
        inside = "not known" if seen is None else "yes" if name in counted else "no"
        behind = sum(lag or 0 for lag in known) if known else None
        rows.append((name, process, inside, tables.show(_places(held)), behind))
    return "Members", ("member", "process", "in the group", "partitions", "lag"), rows


def partitions(seen: GroupView, marks: Mapping[Place, str]) -> Table:
    """The table of partitions: who reads each, and how far behind."""
    owners = owners_of(seen)
    rows: list[tuple[object, ...]] = [
        (
            *place,
            owners.get(place),
            seen.offsets.get(place),
            seen.end_offsets.get(place),
            seen.lag.get(place),
            marks.get(place, ""),
        )
        for place in sorted({*owners, *seen.offsets})
    ]
    columns = ("topic", "partition", "member", "committed", "log end", "lag", "just changed")
    return "Partitions", columns, rows


def _places(held: Sequence[Place]) -> list[str]:
    """With the topic where there are several."""
    several = len({topic for topic, _ in held}) > 1
    return [f"{topic} {number}" if several else str(number) for topic, number in sorted(held)]


def _row(*widgets: ipywidgets.Widget, align: str) -> ipywidgets.HBox:
    layout = ipywidgets.Layout(flex_flow="row wrap", align_items=align, grid_gap="0 2em")
    return ipywidgets.HBox(list(widgets), layout=layout)
