"""Two ways to give the records of a topic to threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from kafkalab.diagrams.canvas import ADDED, GIVEN
from kafkalab.diagrams.plan import plan

# Thread -> partition and offset of each record that it worked on, in that order.
Work = Mapping[str, Sequence[tuple[int, int]]]


def shared_consumer(work: Work) -> Axes:
    """One consumer polls and hands records out; a partition ends up in several threads.

    Partitions whose records more than one thread had are drawn in colour: their order and their
    commits need care.
    """
    partitions = _partitions(work)
    split = [
        box
        for number, box in partitions.items()
        if sum(any(place[0] == number for place in places) for places in work.values()) > 1
    ]
    threads = _threads(work)
    return plan(
        [list(partitions.values()), ["one consumer"], list(threads.values())],
        [
            *((box, "one consumer") for box in partitions.values()),
            *(("one consumer", box) for box in threads.values()),
        ],
        colours=dict.fromkeys(split, ADDED),
        width=2.3,
    )


def consumer_per_thread(work: Work) -> Axes:
    """Each thread polls for itself; a partition has one thread, and its order holds there."""
    partitions, threads = _partitions(work), _threads(work)
    consumers = {name: f"consumer of {name}" for name in work}
    return plan(
        [list(partitions.values()), list(consumers.values()), list(threads.values())],
        [
            *(
                (box, consumers[name])
                for number, box in partitions.items()
                for name, places in work.items()
                if any(place[0] == number for place in places)
            ),
            *((consumers[name], threads[name]) for name in work),
        ],
        colours=dict.fromkeys(threads.values(), GIVEN),
        width=2.3,
    )


def _partitions(work: Work) -> dict[int, str]:
    numbers = {partition for places in work.values() for partition, _ in places}
    return {number: f"partition {number}" for number in sorted(numbers)}


def _threads(work: Work) -> dict[str, str]:
    """Thread -> its box: for each partition the offsets that it worked on."""
    boxes = {}
    for name, places in work.items():
        offsets: dict[int, list[int]] = {}
        for partition, offset in places:
            offsets.setdefault(partition, []).append(offset)
        lines = [
            f"partition {number}: {_few(theirs)}" for number, theirs in sorted(offsets.items())
        ]
        boxes[name] = "\n".join([name, *lines])
    return boxes


def _few(offsets: Sequence[int]) -> str:
    """The first offsets; all of a long run would hide the point."""
    shown = ", ".join(map(str, offsets[:4]))
    return f"{shown}, …" if len(offsets) > 4 else shown
