"""Who tells whom about a record, in which order: drawn from the frames that the gateway saw."""

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
UNDER = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
ROOM = 0.55  # on both sides of the lines of one send
WAITS = "anything?"
NEXT = "next one?"


@dataclass(frozen=True)
class Arrow:
    """Something that went from one to another, so many milliseconds after the request."""

    ms: float
    start: int | None
    end: int | None
    words: str


def steps(send: Frame, fetches: Iterable[Frame]) -> list[Arrow]:
    """The way of one record: to the leader, to each follower, and back as an acknowledgement.

    A follower has asked before: that request waits at the leader, and the record is its answer. Its
    next one asks for the offset behind the record: so the leader learns that it has arrived.
    """
    leader = send.broker
    found = [Arrow(0.0, PRODUCER, leader, "record")]
    if send.answered is not None:
        found.append(Arrow(_ms(send, send.answered), leader, PRODUCER, "answer"))
    own: dict[int, list[Frame]] = {}
    for fetch in sorted(fetches, key=lambda fetch: fetch.requested):
        if fetch.broker == leader and fetch.source is not None:
            own.setdefault(fetch.source, []).append(fetch)
    for follower, asked in sorted(own.items()):
        brings = (fetch for fetch in asked if (fetch.answered or 0) > send.requested)
        brought = next(brings, None)
        if brought is None or brought.answered is None:
            continue
        found.append(Arrow(_ms(send, brought.requested), follower, leader, WAITS))
        found.append(Arrow(_ms(send, brought.answered), leader, follower, "record"))
        told = next((fetch for fetch in asked if fetch.requested >= brought.answered), None)
        if told is not None:
            found.append(Arrow(_ms(send, told.requested), follower, leader, NEXT))
    return sorted(found, key=lambda step: step.ms)


def told_before(way: Sequence[Arrow]) -> int | None:
    """How many followers had asked for the next record when the answer left; None without one."""
    answered = [step.ms for step in way if step.end is PRODUCER]
    if not answered:
        return None
    return sum(step.words == NEXT and step.ms < answered[0] for step in way)


IN_WORDS = (
    "Three sequences: producer, leader, followers. With acks=0 nothing comes back. With acks=1 the "
    "leader answers when its own log has the record. With acks=all it answers when each follower "
    "has asked for the next one."
)


def acknowledgements(cluster: Cluster, settings: Sequence[object]) -> Axes:
    """The last send with each of these values of acks, by client ids like `acks=1`.

    It is drawn as the gateway saw it. Where only what clients say passes the gateway, as with
    Docker, the followers are not drawn.
    """
    frames = cluster.gateway.frames
    clients = [f"acks={acks}" for acks in settings]
    sends = {client: frames("Produce", client_id=client)[-1] for client in clients}
    return sequences(sends, frames("Fetch", between="nodes"))


def sequences(sends: Mapping[str, Frame], fetches: Iterable[Frame]) -> Axes:
    """One sequence for each produce request; `fetches` are those of the followers, all of them.

    Time runs downwards, in the order of what happened and not to scale. The title counts the
    followers that had asked for the next record before each answer.
    """
    fetches = list(fetches)
    ways = {name: steps(send, fetches) for name, send in sends.items()}
    places = {name: _places(send, ways[name]) for name, send in sends.items()}
    span = max(len(place) for place in places.values()) - 1 + 2 * ROOM
    depth = max(len(way) for way in ways.values()) + 1
    ax = canvas(width=len(sends) * span, height=depth + 0.7, size=(11, 1.1 + 0.34 * depth))
    for number, (name, way) in enumerate(ways.items()):
        left = number * span + ROOM
        _lines(ax, left, places[name], sends[name].broker, depth)
        ax.text(left - 0.4, depth + 0.8, name, ha="left", va="top", weight="bold")
        for row, step in enumerate(way):
            _arrow(ax, left, depth - 1 - row, step, places[name])
        if sends[name].answered is None:
            last = depth - 1 - len(way)
            ax.text(left + 0.06, last, "no answer", fontsize=9, color=ADDED, va="center")
    asked = {name: count for name, way in ways.items() if (count := told_before(way)) is not None}
    counts = ", ".join(f"{count} with {name}" for name, count in asked.items())
    ax.set_title(f"Followers that asked for the next record before the answer: {counts}")
    return ax


def _ms(send: Frame, moment: float) -> float:
    return (moment - send.requested) * 1000


def _places(send: Frame, way: Iterable[Arrow]) -> dict[int | None, int]:
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
    ax: Axes, left: float, height: float, step: Arrow, places: Mapping[int | None, int]
) -> None:
    colour = FOLLOWING
    if PRODUCER in (step.start, step.end):
        colour = ADDED if step.end is PRODUCER else GIVEN
    start, end = (left + places[node] for node in (step.start, step.end))
    arrow = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (end, height), (start, height), arrowprops=arrow)
    # beside the arrow's tail: in the middle of a long one another node's line would cross it
    middle = start + 0.5 * (1 if end > start else -1)
    text = ax.text(middle, height + 0.02, step.words, fontsize=8.5, color=colour, bbox=UNDER)
    text.set(horizontalalignment="center", verticalalignment="center")
