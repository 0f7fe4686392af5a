"""What is remembered of a reader, noted step by step and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from kafkalab import members
from kafkalab.draw.drawing import PLATE
from kafkalab.draw.picture import show
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafka import KafkaConsumer

    from kafkalab.cluster.cluster import Cluster

# The names of the offsets of a step, and how each is drawn.
LINES = (
    ("end", "log end", "#555555", ":"),
    ("position", "position", "#0072B2", "--"),
    ("committed", "committed offset", "#D55E00", "-"),
)
BETWEEN = "#F6D9C6"

# What stands before the lines of a program: its `note` tells the offsets of a consumer.
HEAD = """\
def note(what, consumer, write=note):
    (place,) = consumer.assignment()
    committed = consumer.committed(place)
    end = consumer.end_offsets([place])[place]
    write("step", step=[what, consumer.position(place), committed, end])
"""


@dataclass(frozen=True)
class Noted:
    """The three offsets of one partition after something was done.

    `committed` is None for a group that has committed nothing.
    """

    what: str
    position: int
    committed: int | None
    end: int


def step(what: str, consumer: KafkaConsumer) -> Noted:
    """Where a consumer of one partition, its group and the log stand now."""
    (place,) = consumer.assignment()
    return Noted(
        what,
        position=consumer.position(place),
        committed=consumer.committed(place),
        end=consumer.end_offsets([place])[place],
    )


def begun(what: str, first: Any, before: Noted) -> Noted:
    """Where a reader began, by the first record that it got; group and log are as before."""
    return replace(before, what=what, position=first.offset)


def run(
    program: str, *, timeout: float = 60, bootstrap_servers: str = "", **settings: Any
) -> list[Noted]:
    """Run the lines as a Python program of its own; show and return the steps that it noted.

    `KafkaConsumer`, `os`, `signal`, the settings as `settings` and `note(what, consumer)` are at
    hand in it. It may end, or kill itself; any other end is an error.
    """
    settings["bootstrap_servers"] = bootstrap_servers
    clerk = members.start(HEAD + program, "clerk", address=bootstrap_servers, settings=settings)
    try:
        clerk.wait_for_end(timeout)
    finally:
        clerk.kill()
    steps = [Noted(*event.facts["step"]) for event in clerk.events if event.what == "step"]
    for one in steps:
        what = " ".join(one.what.split())
        print(f"{what}: position {one.position}, committed {one.committed}, log end {one.end}")
    return steps


def new_group(cluster: Cluster, name: str) -> str:
    """The name, or `name-2`, `name-3`, … where the brokers know such a group already."""
    known = cluster.groups()
    number = 2
    found = name
    while found in known:
        found = f"{name}-{number}"
        number += 1
    return found


def wait_for_partitions(*members: KafkaConsumer, timeout: float = 20) -> None:
    """Poll the members of one group until each has partitions that no other has.

    For a topic that is still empty: records that came meanwhile would be lost.
    """

    def shared() -> bool:
        for member in members:
            member.poll(timeout_ms=100)
        found = [place for member in members for place in member.assignment()]
        return len(set(found)) == len(found) and all(member.assignment() for member in members)

    wait_until(shared, timeout=timeout, what="partitions for each member")


def looped(consumer: KafkaConsumer, timeout: float = 30) -> list[str]:
    """The values of a loop over a member of a group, which ends by its `consumer_timeout_ms`.

    Where the loop ended before the member had a partition, as on a busy machine, it is begun again.
    """

    def found() -> tuple[list[str]] | None:
        values = [record.value.decode() for record in consumer]
        return (values,) if values or consumer.assignment() else None

    (values,) = wait_until(found, timeout=timeout, what="a partition for the loop")
    return values


def differs(records: Sequence[Any], offsets: Sequence[int]) -> str:
    """What is not right yet of records that should be those with these offsets."""
    found = [record.offset for record in records]
    if found == list(offsets):
        return ""
    if not found:
        return "no record came."
    if found[0] < offsets[0]:
        return f"it begins at {found[0]}, which is too early."
    return f"it has {len(found)} records from offset {found[0]} on, and some are missing."


def uncooked(values: Sequence[str], records: Sequence[Any]) -> str:
    """What is not right yet of values that should be those of these records."""
    missing = {record.value.decode() for record in records} - set(values)
    return f"{len(missing)} of {len(records)} orders are not cooked." if missing else ""


def offsets_over_steps(steps: Sequence[Noted], ax: Axes | None = None) -> Axes:
    """Log end, position and committed offset after each step; shaded: read and not committed."""
    ax = ax or plt.subplots(figsize=(7.5, 3.8))[1]
    # Each step holds until the next one, the last one for half a step.
    ends = [*range(len(steps)), len(steps) - 0.5]
    held = pd.DataFrame([*steps, steps[-1]], index=ends)
    ax.fill_between(
        held.index,
        held["committed"].astype(float),
        held["position"].astype(float),
        step="post",
        color=BETWEEN,
    )
    for name, label, colour, line in LINES:
        ax.step(held.index, held[name].astype(float), where="post", color=colour, linestyle=line)
        value = getattr(steps[-1], name)
        if value is not None:
            ax.annotate(
                f"{label} {value:,}",
                (ends[-1], value),
                (6, 0),
                textcoords="offset points",
                va="center",
                color=colour,
                bbox=PLATE,
            )
    gaps = [0 if one.committed is None else one.position - one.committed for one in steps]
    widest = gaps.index(max(gaps))
    if gaps[widest] > 0:
        middle = steps[widest].position - gaps[widest] / 2
        ax.text(widest + 0.5, middle, "read, not\ncommitted", ha="center", va="center")
    ax.set_xticks(range(len(steps)), [one.what for one in steps], ha="left")
    ax.set(xlabel="what was done, in this order", ylabel="offset", ylim=(0, None))
    ax.set_xlim(-0.1, len(steps) + 0.7)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    return ax


def show_handover(steps: Sequence[Noted]) -> None:
    """The chart of these steps; the last two are by another reader, of the same group: it begins,
    and polls.

    Its title says how many records that reader gets again.
    """
    before, begins = steps[-3], steps[-2]
    committed = before.committed or 0
    title = f"{before.position - begins.position} orders come again: the commit was {committed}"
    ax = offsets_over_steps(steps)
    ax.set_title(title)
    positions = ", ".join(str(one.position) for one in steps)
    show(
        ax,
        f"Position {positions} after each step; the committed offset stays at {committed}, the log "
        f"end at {before.end}. {title}.",
    )
