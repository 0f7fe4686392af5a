"""The checks of lab 01 against states that are nearly right."""

import struct
from types import SimpleNamespace
from typing import ClassVar

import pytest

from grading.define import definition
from grading.judge.checks import share
from grading.judge.outcome import Outcome
from tests.grading.state import Logs, parameters, partition, record, result, wrong_answer

LAB = "lab01"
P = parameters(LAB)


def readings(key=True):
    stations = P.stations
    return [
        record(0, n - 1, str(n).encode(), stations[n % 5].encode() if key else None)
        for n in range(1, P.records + 1)
    ]


def test_a_reading_that_is_there_twice_is_named():
    log = [*readings(), record(1, 0, b"7", P.stations[2].encode())]
    found = result(LAB, "readings_arrived", {P.topic: log})
    assert found.outcome is Outcome.FAIL
    assert "not expected '7'" in found.messages[0]
    assert "more than once, for example ['7']" in found.messages[1]


def test_a_wrong_key_is_named_with_the_right_one():
    found = result(LAB, "key_is_the_station", {P.topic: readings(key=False)})
    assert found.messages == [
        f"{P.records} records have another key: reading 1 belongs to {P.stations[1]}, "
        "its key is None"
    ]


def test_a_receipt_that_points_elsewhere_is_named():
    receipts = [(0, n - 1) for n in range(1, P.records + 1)]
    receipts[1] = (0, 5)
    found = result(LAB, "receipts_are_right", {P.topic: readings()}, {"receipts": receipts})
    assert (
        "that of reading 2 says partition 0, offset 5, and there lies reading 6"
        in (found.messages[0])
    )


def test_sorted_arrivals_are_not_believed():
    arrived = [(n % 2, n, "", str(n)) for n in range(1, 9)]
    values = {"arrived": arrived, "steps_back": 0}
    found = result(LAB, "steps_back_are_counted", values=values)
    assert "keep the order in which the consumer hands them out" in found.messages[0]


def test_sorting_what_is_there_twice_spoils_the_order_and_may():
    """A proof may sort the topic in which another wrong answer has sent everything twice."""
    twice = [(0, offset, "", str(n)) for offset, n in enumerate([1, 2, 3, 1, 2, 3])]
    assert result(LAB, "order_of_arrival", values={"arrived": twice}).outcome is Outcome.PASS
    in_order = sorted(twice, key=lambda entry: int(entry[3]))
    found = result(LAB, "order_of_arrival", values={"arrived": in_order})
    assert found.outcome is not Outcome.PASS
    assert "order_of_arrival" in wrong_answer(LAB, "4_sorted").also


def commit(offset, group=P.group, topic=P.queue_topic):
    """A record of Kafka's own topic of offsets; None is what it writes to forget one."""
    key = struct.pack(">hh", 1, len(group)) + group.encode()
    key += struct.pack(">h", len(topic)) + topic.encode() + struct.pack(">i", 0)
    return record(3, 0, None if offset is None else struct.pack(">hq", 3, offset) + b"rest", key)


@pytest.mark.parametrize(
    ("history", "outcome"),
    [
        ([P.first, P.queue], Outcome.PASS),
        ([P.first, P.first, P.queue], Outcome.PASS),
        ([P.queue], Outcome.FAIL),
        ([P.first, P.queue, None, P.queue], Outcome.FAIL),
        ([P.queue, None, P.first, P.queue], Outcome.PASS),
        ([1, 2, P.first, P.first + 1, P.queue], Outcome.PASS),
        ([P.queue, P.first, P.queue], Outcome.PART),
        ([], Outcome.FAIL),
    ],
)
def test_the_first_clerk_must_have_committed(history, outcome):
    log = [commit(1, group="another"), *map(commit, history)]
    found = result(LAB, "first_clerk_committed", {"__consumer_offsets": log})
    assert found.outcome is outcome


class Groups(Logs):
    """Logs, and what groups have committed."""

    def __init__(self, offsets):
        super().__init__({})
        self.offsets = offsets

    def group(self, name):
        return SimpleNamespace(offsets=self.offsets)


def test_two_lists_that_are_typed_are_no_work_of_a_group():
    typed = {
        "first_clerk": list(range(1, P.first + 1)),
        "second_clerk": list(range(P.first + 1, P.queue + 1)),
    }
    found = result(LAB, "forms_are_done_once", Groups({}), typed)
    assert found.outcome is Outcome.FAIL
    assert "has committed nothing" in found.messages[0]
    committed = Groups({(P.queue_topic, 0): P.first})
    assert result(LAB, "forms_are_done_once", committed, typed).outcome is Outcome.PASS


def test_a_choice_alone_earns_nothing():
    checks = {check.id: check for check in definition.load(LAB).checks}
    for choice, measured in (
        ("evidence_is_weighed", "home_is_right"),
        ("likeliest_fits", "stored_is_measured"),
    ):
        assert checks[choice].needs == measured


class Placed(Logs):
    """Three brokers with copies of every partition of the readings; the second one leads."""

    brokers: ClassVar = [0, 1, 2]

    def partition(self, topic, number):
        return partition(number, [1, 0, 2])


MINE = {"brokers": 3, "copies": 3, "records": P.records, "left": 2}


def weighed(**values):
    placed = Placed({P.topic: readings()})
    return result(LAB, "evidence_is_weighed", placed, {"mine": MINE, "proven": {1, 3}} | values)


def test_what_is_proven_is_chosen_beside_what_was_measured():
    assert weighed().outcome is Outcome.PASS
    wrong = weighed(proven={1, 2, 3})
    assert wrong.outcome is Outcome.PART
    assert wrong.messages[0].startswith("proven has a claim that the output does not prove")


@pytest.mark.parametrize("what", MINE)
def test_a_choice_beside_another_number_than_the_clusters_earns_nothing(what):
    for other in (MINE | {what: 1_000}, {k: v for k, v in MINE.items() if k != what}):
        found = weighed(mine=other)
        assert found.outcome is Outcome.FAIL
        assert found.messages == [f"mine has another number than your cluster, or none, for {what}"]


@pytest.mark.parametrize("typed", [{}, None, {"records": "many"}, [3, 3, 9, 2]])
def test_a_choice_without_a_measurement_earns_nothing(typed):
    assert weighed(mine=typed).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("likeliest", "why"),
    [("b", "stores three"), ("c", "new prompt"), ("d", "no keyboard"), ("e", "not a letter")],
)
def test_a_wrong_case_is_answered_with_a_reason(likeliest, why):
    assert why in result(LAB, "likeliest_fits", values={"likeliest": likeliest}).messages[0]


@pytest.mark.parametrize("check", ["readings_arrived", "key_is_the_station", "steps_are_in_order"])
def test_records_that_a_tool_put_there_earn_nothing(check):
    topics = {
        P.topic: [partition(0, [0, 1, 2])],
        P.steps_topic: [partition(number, [0, 1, 2]) for number in range(P.steps_partitions)],
    }
    junk = {name: [record(0, n, b"%d" % (7 * n)) for n in range(300)] for name in topics}
    found = result(LAB, check, junk, topics=topics)
    assert found.outcome is Outcome.FAIL
    assert share(found)[0] == 0
