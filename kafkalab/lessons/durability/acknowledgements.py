"""Who tells whom about a record, and when: drawn from the frames that the gateway saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from kafkalab.draw.diagrams.canvas import ADDED, GIVEN, QUIET, canvas

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster
    from kafkalab.gateway import Frame

PRODUCER = None
FOLLOWING = "0.35"
ROOM = 0.9  # beside the lines of one send, for the times


@dataclass(frozen=True)
class Step:
    """Something that went from one to another, so many milliseconds after the request."""

    ms: float
    start: int | None
    end: int | None
    words: str


def steps(send: Frame, fetches: Iterable[Frame]) -> list[Step]:
    """The way of one record: to the leader, to each follower, and back as an acknowledgement.

    A follower has the record with the answer to its fetch request. Its next request asks for the
    offset behind the record, and that is how the leader learns that it has arrived.
    """
    leader = send.broker
    found = [Step(0.0, PRODUCER, leader, "record")]
    if send.answered is not None:
        found.append(Step(_ms(send, send.answered), leader, PRODUCER, "answer"))
    own: dict[int, list[Frame]] = {}
    for fetch in sorted(fetches, key=lambda fetch: fetch.requested):
        if fetch.broker == leader and fetch.source is not None:
            own.setdefault(fetch.source, []).append(fetch)
    for follower, asked in sorted(own.items()):
        answers = (fetch.answered for fetch in asked if fetch.answered is not None)
        brought = next((moment for moment in answers if moment > send.requested), None)
        if brought is None:
            continue
        found.append(Step(_ms(send, brought), leader, follower, "record"))
        told = next((fetch for fetch in asked if fetch.requested >= brought), None)
        if told is not None:
            found.append(Step(_ms(send, told.requested), follower, leader, "next one?"))
    return sorted(found, key=lambda step: step.ms)


def acknowledgements(cluster: Cluster, clients: Sequence[str]) -> Axes:
    """The last send of each of these producers, by their client ids, as the gateway saw it.

    The title tells when each was answered. Where only what clients say passes the gateway, as with
    Docker, the followers are not drawn.
    """
    frames = cluster.gateway.frames
    sends = {client: frames("Produce", client_id=client)[-1] for client in clients}
    ax = sequences(sends, frames("Fetch", between="nodes"))
    after = [
        f"{name} after {send.ms:.1f} ms" for name, send in sends.items() if send.ms is not None
    ]
    ax.set_title(f"Answered: {', '.join(after)}")
    return ax


def sequences(sends: Mapping[str, Frame], fetches: Iterable[Frame]) -> Axes:
    """One sequence for each produce request; `fetches` are those of the followers, all of them.

    Time runs downwards, in the order of what happened and not to scale; the times stand beside it.
    """
    fetches = list(fetches)
    ways = {name: steps(send, fetches) for name, send in sends.items()}
    places = {name: _places(send, ways[name]) for name, send in sends.items()}
    span = max(len(place) for place in places.values()) - 1 + ROOM
    depth = max(len(way) for way in ways.values()) + 1
    ax = canvas(width=len(sends) * (span + 0.5), height=depth + 0.7, size=(11, 1.3 + 0.42 * depth))
    for number, (name, way) in enumerate(ways.items()):
        left = number * (span + 0.5) + ROOM
        _lines(ax, left, places[name], sends[name].broker, depth)
        ax.text(left - 0.4, depth + 0.65, name, ha="left", va="top", weight="bold")
        for row, step in enumerate(way):
            _arrow(ax, left, depth - 1 - row, step, places[name])
        if sends[name].answered is None:
            last = depth - 1 - len(way)
            ax.text(left + 0.06, last, "nothing comes back", fontsize=9, color=ADDED, va="center")
    return ax


def _ms(send: Frame, moment: float) -> float:
    return (moment - send.requested) * 1000


def _places(send: Frame, way: Iterable[Step]) -> dict[int | None, int]:
    """Producer, leader, followers: each has an upright line, from the left."""
    nodes = {node for step in way for node in (step.start, step.end) if node is not PRODUCER}
    others = sorted(nodes - {send.broker})
    return {node: place for place, node in enumerate([PRODUCER, send.broker, *others])}


def _lines(
    ax: Axes, left: float, places: Mapping[int | None, int], leader: int, depth: int
) -> None:
    for node, place in places.items():
        name = "producer" if node is PRODUCER else f"leader {node}"
        if node not in (PRODUCER, leader):
            name = f"follower {node}"
        ax.plot([left + place] * 2, [0, depth - 0.35], color=QUIET, linestyle="-", linewidth=1)
        ax.text(left + place, depth - 0.3, name, ha="center", va="bottom", fontsize=9)


def _arrow(
    ax: Axes, left: float, height: float, step: Step, places: Mapping[int | None, int]
) -> None:
    colour = FOLLOWING
    if PRODUCER in (step.start, step.end):
        colour = ADDED if step.end is PRODUCER else GIVEN
    start, end = (left + places[node] for node in (step.start, step.end))
    arrow = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (end, height), (start, height), arrowprops=arrow)
    ax.text((start + end) / 2, height + 0.06, step.words, ha="center", fontsize=9, color=colour)
    ax.text(left - 0.12, height, f"{step.ms:.1f} ms", ha="right", va="center", fontsize=9)
