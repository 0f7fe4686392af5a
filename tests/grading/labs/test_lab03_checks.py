"""The checks of lab 03 against answers that are nearly right."""

import pytest
from kafka.partitioner import murmur2
from state import result

from grading.outcome import Outcome

LAB = "lab03"


def place(key: bytes | None, partitions: int, important: set[str]) -> int:
    if key is None:
        raise ValueError("no key")
    if partitions == 1 or key.decode() in important:
        return partitions - 1
    return (murmur2(key) & 0x7FFFFFFF) % (partitions - 1)


def place_when_there_are_others(key: bytes | None, partitions: int, important: set[str]) -> int:
    """Right for important stocks, also in a topic of one partition, which has no others."""
    if key is not None and key.decode() not in important and partitions == 1:
        return 1
    return place(key, partitions, important)


@pytest.mark.parametrize(
    ("answer", "outcome"), [(place, Outcome.PASS), (place_when_there_are_others, Outcome.PART)]
)
def test_one_partition_is_an_edge_for_every_student(answer, outcome):
    for number in range(100):
        values = {"partition_of": answer}
        found = result(LAB, "edges_are_handled", values=values, student=f"student {number}")
        assert found.outcome is outcome, (number, found)
