"""The Iris file of lab 02 is the variant that the lab's numbers were derived from."""

import csv
from collections import defaultdict
from decimal import Decimal

import pytest

from grading.define.place import find

FILE = find("lab02").student / "data" / "iris.csv"
CHANGED = {84: "virginica", 85: "virginica", 86: "virginica", 130: "versicolor"}


def original(row: int) -> str:
    """The class that the row's place in the file stood for before four labels were changed."""
    return ("setosa", "versicolor", "virginica")[(row - 1) // 50]


@pytest.fixture(scope="module")
def flowers() -> list[dict]:
    with FILE.open(newline="") as file:
        return [
            {name: value if name == "class" else Decimal(value) for name, value in row.items()}
            for row in csv.DictReader(file)
        ]


def pair(flower: dict) -> tuple[Decimal, Decimal]:
    return flower["sepal_length"], flower["sepal_width"]


def test_there_are_150_flowers_with_five_columns(flowers):
    assert len(flowers) == 150
    assert {len(flower) for flower in flowers} == {5}
    assert {flower["class"] for flower in flowers} == {
        "Iris-setosa",
        "Iris-versicolor",
        "Iris-virginica",
    }


def test_exactly_four_labels_differ_from_the_order_of_the_file(flowers):
    differ = {
        row: flower["class"]
        for row, flower in enumerate(flowers, start=1)
        if flower["class"] != f"Iris-{original(row)}"
    }
    assert differ == {row: f"Iris-{label}" for row, label in CHANGED.items()}


@pytest.mark.parametrize(
    ("label", "rows", "length", "width", "lengths", "widths", "pairs"),
    [
        ("setosa", 50, "250.3", "170.9", ("4.3", "5.8"), ("2.3", "4.4"), 38),
        ("versicolor", 48, "286.6", "132.4", ("4.9", "7.2"), ("2.0", "3.3"), 42),
        ("virginica", 52, "339.6", "154.8", ("4.9", "7.9"), ("2.2", "3.8"), 46),
    ],
)
def test_numbers_by_label(flowers, label, rows, length, width, lengths, widths, pairs):
    of_label = [pair(flower) for flower in flowers if flower["class"] == f"Iris-{label}"]
    assert len(of_label) == rows
    assert sum(pair[0] for pair in of_label) == Decimal(length)
    assert sum(pair[1] for pair in of_label) == Decimal(width)
    assert (min(of_label)[0], max(of_label)[0]) == tuple(map(Decimal, lengths))
    by_width = sorted(pair[1] for pair in of_label)
    assert (by_width[0], by_width[-1]) == tuple(map(Decimal, widths))
    assert len(set(of_label)) == pairs


def test_numbers_of_the_whole_file(flowers):
    assert sum(flower["sepal_length"] for flower in flowers) == Decimal("876.5")
    assert sum(flower["sepal_width"] for flower in flowers) == Decimal("458.1")
    assert sum(flower["petal_length"] for flower in flowers) == Decimal("563.8")
    assert sum(flower["petal_width"] for flower in flowers) == Decimal("179.8")
    assert len({pair(flower) for flower in flowers}) == 116


def test_sums_with_the_original_labels(flowers):
    sums = defaultdict(lambda: [Decimal(0), Decimal(0)])
    for row, flower in enumerate(flowers, start=1):
        sums[original(row)][0] += flower["sepal_length"]
        sums[original(row)][1] += flower["sepal_width"]
    assert sums["versicolor"] == [Decimal("296.8"), Decimal("138.5")]
    assert sums["virginica"] == [Decimal("329.4"), Decimal("148.7")]


def test_rows_35_and_38_are_the_same_flower(flowers):
    assert flowers[34] == flowers[37]
