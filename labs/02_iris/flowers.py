"""What the checks of lab 02 know about the flowers and where each of them belongs."""

import csv
from functools import cache
from pathlib import Path

from grading.judge.checks import Unseen
from grading.judge.log import whole_number

LONE = "Iris-versicolor"


@cache
def flowers() -> dict[int, tuple[str, list[float]]]:
    """Row -> class and pair."""
    with Path(__file__).with_name("data").joinpath("iris.csv").open(newline="") as file:
        return {
            row: (line["class"], [float(line["sepal_length"]), float(line["sepal_width"])])
            for row, line in enumerate(csv.DictReader(file), start=1)
        }


def rows_of(name: str) -> list[int]:
    """The rows with this class."""
    return [row for row, (label, _) in flowers().items() if label == name]


def log(x) -> list[tuple[str, object]]:
    """All records of both topics, each with the name of its topic."""
    return [
        (topic, record) for topic in (x.p.pair_topic, x.p.lone_topic) for record in x.read(topic)
    ]


def of_flowers(x) -> list[tuple[str, object]]:
    """The same; ends the check where they are not the flowers, or a few of them."""
    records = log(x)
    there = {row(record) for _, record in records} & flowers().keys()
    if 2 * len(there) < len(flowers()):
        raise Unseen(f"the two topics hold {len(there)} of 150 flowers, by the header row")
    return records


def were_read(x, consumed: list[dict]) -> None:
    """Ends the check where these are not the records of the topics, or a few of them."""
    there = {(topic, r.partition, r.offset, row(r)) for topic, r in of_flowers(x)}
    found = [r for r in consumed if (r["topic"], r["partition"], r["offset"], r["row"]) in there]
    if 2 * len(found) < len(consumed):
        raise Unseen(f"{len(found)} of {len(consumed)} records in consumed lie in the two topics")


def row(record) -> int | None:
    """The number in the header of a record; None where there is none."""
    return whole_number(record.header("row"))


def as_read(topic: str, record) -> dict:
    """A record in the form that `read_flowers` returns."""
    place = {"topic": topic, "partition": record.partition, "offset": record.offset}
    return {"row": row(record), "pair": pair(record), **place}


def pair(record) -> object:
    """The value of a record; what is no JSON is shown as text."""
    try:
        return record.json()
    except Unseen:
        return record.text()


def places(x, name: str) -> list[tuple[str, int]]:
    """The partitions that the reader with this name reads."""
    if name == "all":
        return [(topic, number) for topic in (x.p.pair_topic, x.p.lone_topic) for number in (0, 1)]
    return [(x.p.pair_topic, x.p.partition_of[f"Iris-{name}"])]


def colour(x, topic: str, partition: int) -> str:
    """The colour of a point, by topic and partition."""
    if topic != x.p.pair_topic:
        return "green"
    return "red" if x.p.partition_of["Iris-virginica"] == partition else "blue"
