"""The checks of lab 04 against answers that are nearly right."""

from dataclasses import replace
from itertools import pairwise

import pytest

from grading.define.definition import module
from grading.define.place import find
from grading.judge.outcome import Outcome
from tests.grading.state import parameters, record, result

after_loss = module(find("lab04"), "rule").after_loss

LAB = "lab04"
P = parameters(LAB)


def as_json(table):
    return {str(partition): one for partition, one in table.items()}


def test_the_next_leader_is_the_first_of_the_list_that_is_alive():
    assert after_loss([[2, 0, 1], [0, 1, 2], [0, 2, 1]], {0}) == {
        0: {"leader": 2, "isr": [1, 2]},
        1: {"leader": 1, "isr": [1, 2]},
        2: {"leader": 2, "isr": [1, 2]},
    }
    assert after_loss([[2, 0, 1]], {0, 2}) == {0: {"leader": 1, "isr": [1]}}


def test_every_broker_leads_four_or_five_and_loses_some():
    for brokers in ({P.lost}, {P.second}, {0}, {1}, {2}):
        first = [replicas[0] for replicas in P.replicas]
        assert first.count(*brokers) in (4, 5)
    assert P.lost != P.second
    assert all(sorted(replicas) == [0, 1, 2] for replicas in P.replicas)


def test_a_forecast_in_any_order_of_replicas_is_right():
    table = after_loss(P.replicas, {P.lost})
    turned = {p: {"leader": one["leader"], "isr": one["isr"][::-1]} for p, one in table.items()}
    found = result(LAB, "forecast_is_right", values={"forecast": as_json(turned)})
    assert found.outcome is Outcome.PASS


@pytest.mark.parametrize("forecast", [None, [], {"0": 1}, {"zero": {"leader": 1}}, {}])
def test_what_is_no_table_is_told_and_not_judged(forecast):
    found = result(LAB, "forecast_is_right", values={"forecast": forecast})
    assert found.outcome is Outcome.FAIL


def test_one_wrong_leader_is_named():
    table = after_loss(P.replicas, {P.lost})
    table[3] = {"leader": P.lost, "isr": table[3]["isr"]}
    found = result(LAB, "forecast_is_right", values={"forecast": as_json(table)})
    assert found.messages == [
        f"forecast: 1 partitions have another leader; partition 3 has {P.lost}"
    ]


def numbers(count, pause=5, outage=0):
    """A log of so many numbers, one each few milliseconds, with a gap in the middle."""
    times = [n * pause + (outage if n > count // 2 else 0) for n in range(count)]
    assert outage == 0 or max(b - a for a, b in pairwise(times)) == outage + pause
    return [replace(record(0, n, b"%d" % n), timestamp=time) for n, time in enumerate(times)]


def test_a_number_that_is_there_twice_is_found():
    topics = dict.fromkeys(P.delay_topics.values(), numbers(120))
    assert result(LAB, "numbers_survived", topics).outcome is Outcome.PASS
    topics[P.delay_topics["kill"]] = [*numbers(120), record(0, 120, b"119")]
    assert "kill" in result(LAB, "numbers_survived", topics).messages[0]


def test_a_delay_that_the_log_does_not_show_is_found():
    topics = {P.delay_topics["stop"]: numbers(120), P.delay_topics["kill"]: numbers(120, 5, 3_000)}
    true = {"delays": {"stop": 6.0, "kill": 3_010.0}}
    assert result(LAB, "delay_is_in_the_log", topics, true).outcome is Outcome.PASS
    invented = {"delays": {"stop": 6.0, "kill": 9_000.0}}
    assert result(LAB, "delay_is_in_the_log", topics, invented).outcome is Outcome.PART


def test_topics_that_nobody_filled_give_no_points():
    found = result(LAB, "numbers_survived", {topic: [] for topic in P.delay_topics.values()})
    assert found.outcome is Outcome.FAIL
    assert "is empty" in found.messages[0]
