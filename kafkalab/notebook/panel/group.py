"""The live view of a consumer group: its members, their partitions, and how far behind they are."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from html import escape
from typing import Any

from kafkalab import tables
from kafkalab.cluster.cluster import Cluster
from kafkalab.cluster.views import GroupView
from kafkalab.members import Member
from kafkalab.notebook import page
from kafkalab.notebook.panel import changes, group_board
from kafkalab.notebook.panel.group_board import GroupBoard, Owners
from kafkalab.notebook.panel.live import Live, stop_earlier

# States of a group in which everything that it has to deal out is dealt out.
DEALT = ("STABLE", "EMPTY", "DEAD")


def show_group(
    cluster: Cluster,
    group: str,
    team: MutableMapping[str, Member],
    start: Callable[[str], Member] | None = None,
) -> GroupPanel:
    """The panel of a group, as the last line of a cell. A former one of this group stops.

    `team` is by name, which is also the client id. `start` gives a new member of a name, which
    takes the place of the old one in `team`; without it nobody can be started.
    """
    _ = cluster.engine  # a closed cluster says so
    stop_earlier((cluster, group), "This panel has stopped: another one of this group was opened.")
    return GroupPanel(cluster, group, team, start)


class GroupPanel(Live):
    """Made by `show_group`. `buttons` holds each by its fault; `chosen` says of which member.

    Where nothing can be pressed it looks each time it is shown, and is then text.
    """

    def __init__(
        self,
        cluster: Cluster,
        group: str,
        team: MutableMapping[str, Member],
        start: Callable[[str], Member] | None,
    ) -> None:
        super().__init__(cluster, (cluster, group))
        self._group, self._team, self._start = group, team, start
        self._states: dict[str, str] = {}
        self._seen: GroupView | None = None
        self._dealt: Owners = {}
        self._widgets: GroupBoard | None = None
        if page.can_show_widgets():
            self._widgets = GroupBoard(group, list(team), start is not None, self._press)
            self._begin(self._widgets, group)

    @property
    def buttons(self) -> dict[str, Any]:
        """Fault -> the button, an ipywidgets Button."""
        return self._widgets.buttons if self._widgets else {}

    @property
    def chosen(self) -> Any:
        """The field with the name of the member that the buttons are for; None without them."""
        return self._widgets.chosen if self._widgets else None

    def stop(self, why: str = "This panel has stopped.") -> None:
        if self._widgets is not None:
            # A cluster that closes has ended its members since the last look.
            self._widgets.show(self._states_now(), self._seen, self._dealt)
        super().stop(why)

    def __repr__(self) -> str:
        return self._now()["text/plain"]

    def _repr_mimebundle_(self, **formats: Any) -> dict[str, Any]:
        view = super()._repr_mimebundle_(**formats) if self._widgets else {}
        return {**view, **self._now()}

    def _now(self) -> dict[str, str]:
        """What can be told at this moment, for a page without buttons."""
        if self._cluster.closed:
            return {"text/plain": f"The cluster of the group {self._group} is closed."}
        seen = self._cluster.group(self._group)
        title = f"The group {self._group}. {group_board.of_state(seen)}"
        shown = [
            group_board.members(self._states_now(), seen),
            group_board.partitions(seen, {}),
        ]
        text = [f"{caption}\n{tables.text(columns, rows)}" for caption, columns, rows in shown]
        html = [tables.html(*table) for table in shown]
        return {
            "text/plain": "\n".join([title, *text]),
            "text/html": "".join([f"<p>{escape(title)}</p>", *html]),
        }

    def _states_now(self) -> dict[str, str]:
        return {name: member.state for name, member in self._team.items()}

    def _look(self) -> None:
        _ = self._cluster.engine  # a closed cluster says so
        if self._widgets is None:
            return
        states = self._states_now()
        happened = changes.of_processes(self._states, states)
        self._states = states
        seen = self._cluster.group_now(self._group)
        if seen is not None:
            happened += changes.of_group(self._seen, seen)
            if seen.state in DEALT:
                dealt = group_board.owners_of(seen)
                if self._seen is not None:
                    happened += changes.of_owners(self._dealt, dealt)
                self._dealt = dealt
            self._seen = seen
        self._widgets.show(states, seen, self._dealt)
        self._widgets.tell(*happened)

    def _press(self, fault: str, name: str) -> None:
        self._order(f"{fault} {name}", lambda: self._do(fault, name))

    def _do(self, fault: str, name: str) -> None:
        if fault == "start" and self._start is not None:
            self._team[name] = self._start(name)
        elif fault != "start":
            getattr(self._team[name], fault)()
