"""The checks of lab 04 against answers that are nearly right."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from grading.define.definition import module
from grading.define.place import find
from grading.judge.outcome import Outcome
from tests.grading.state import parameters, partition, record, result

after_loss = module(find("lab04"), "rule").after_loss

LAB = "lab04"
P = parameters(LAB)
STRUCK = {topic: [partition(0, [0, 1, 2], leader_epoch=2)] for topic in P.delay_topics.values()}


def as_json(table):
    return {str(partition): one for partition, one in table.items()}


def test_the_next_leader_is_the_first_of_the_list_that_is_alive():
    assert after_loss([[2, 0, 1], [0, 1, 2], [0, 2, 1]], {0}) == {
        0: {"leader": 2, "isr": [1, 2]},
        1: {"leader": 1, "isr": [1, 2]},
        2: {"leader": 2, "isr": [1, 2]},
    }
    assert after_loss([[2, 0, 1]], {0, 2}) == {0: {"leader": 1, "isr": [1]}}
    assert after_loss([[2]], {2}) == {0: {"leader": None, "isr": []}}, (
        "a student's list may be short"
    )


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
    return [
        replace(record(0, n, b"%d" % n), timestamp=time, is_dated_by_broker=True)
        for n, time in enumerate(times)
    ]


def test_a_number_that_is_there_twice_is_found():
    logs = dict.fromkeys(P.delay_topics.values(), numbers(120))
    assert result(LAB, "numbers_survived", logs, topics=STRUCK).outcome is Outcome.PASS
    logs[P.delay_topics["kill"]] = [*numbers(120), record(0, 120, b"119")]
    assert "kill" in result(LAB, "numbers_survived", logs, topics=STRUCK).messages[0]


def test_numbers_that_nothing_befell_have_not_survived():
    logs = dict.fromkeys(P.delay_topics.values(), numbers(120))
    calm = {topic: [partition(0, [0, 1, 2])] for topic in logs}
    found = result(LAB, "numbers_survived", logs, topics=calm)
    assert found.messages == ["partitions [0] have never had another leader"]


def test_a_delay_that_the_log_does_not_show_is_found():
    logs = {P.delay_topics["stop"]: numbers(120), P.delay_topics["kill"]: numbers(120, 5, 3_000)}
    true = {"delays": {"stop": 6.0, "kill": 3_010.0}}
    invented = {"delays": {"stop": 6.0, "kill": 9_000.0}}
    outcomes = [
        result(LAB, check, logs, values, STRUCK).outcome
        for check in ("delay_is_in_the_log", "kill_costs_more")
        for values in (true, invented)
    ]
    assert outcomes == [Outcome.PASS, Outcome.PART, Outcome.PASS, Outcome.FAIL]


@pytest.mark.parametrize("share", [0, 0.3, 0.5, 1])
def test_a_record_may_be_stored_at_any_moment_of_its_delay(share):
    def delayed(ms):
        log = numbers(120)
        later = [replace(one, timestamp=one.timestamp + ms) for one in log[61:]]
        held = replace(log[60], timestamp=log[60].timestamp + int(share * ms))
        return [*log[:60], held, *later]

    logs = {P.delay_topics["stop"]: delayed(860), P.delay_topics["kill"]: delayed(3_400)}
    # On a busy machine the loop itself takes a part of the time between two sends.
    for stop, kill in [(865.0, 3_410.0), (560.0, 2_200.0)]:
        values = {"delays": {"stop": stop, "kill": kill}}
        found = result(LAB, "delay_is_in_the_log", logs, values, STRUCK)
        assert found.outcome is Outcome.PASS, found.messages


@pytest.mark.parametrize("check", ["delay_is_in_the_log", "kill_costs_more"])
def test_times_that_a_producer_wrote_show_no_delay(check):
    logs = {P.delay_topics["stop"]: numbers(120), P.delay_topics["kill"]: numbers(120, 5, 3_000)}
    values = {"delays": {"stop": 6.0, "kill": 3_010.0}}
    assert result(LAB, check, logs, values, STRUCK).outcome is Outcome.PASS
    forged = {
        topic: [replace(one, is_dated_by_broker=False) for one in log]
        for topic, log in logs.items()
    }
    assert result(LAB, check, forged, values, STRUCK).outcome is Outcome.FAIL


def test_topics_that_nobody_filled_give_no_points():
    empty = {topic: [] for topic in P.delay_topics.values()}
    found = result(LAB, "numbers_survived", empty, topics=STRUCK)
    assert found.outcome is Outcome.FAIL
    assert "is empty" in found.messages[0]


def ordered(epochs=(0, 0, 0), topic=P.topic, replicas=P.replicas):
    """The topic of task 1; a partition whose first replica is broker n has the nth leader epoch."""
    return {topic: [partition(n, some, epochs[some[0]]) for n, some in enumerate(replicas)]}


TYPED = {
    "led": {broker: [some[0] for some in P.replicas].count(broker) for broker in range(3)},
    "after": as_json(after_loss(P.replicas, {P.lost})),
    "moved": [n for n, some in enumerate(P.replicas) if some[0] == P.lost],
    "lone_leader": None,
    "lone_read": 0,
    "refusal": "NotEnoughReplicasError",
    "leads": 0,
    "leads_again": [some[0] for some in P.replicas].count(P.lost),
    "lone_again": P.lone,
    "delays": {"stop": 20.0, "kill": 3_000.0},
}
LONE = [record(0, n, b"%d" % n) for n in range(P.lone)]


@pytest.mark.parametrize(
    "check",
    [
        *("table_after_the_loss", "moved_partitions", "lone_topic_is_silent"),
        *("refused_below_the_minimum", "back_without_the_lead", "first_replicas_lead"),
        *("lone_topic_is_back", "kill_costs_more", "delay_is_in_the_log", "broker_is_gone"),
        "one_replica_was_left",
    ],
)
def test_right_answers_count_for_nothing_where_no_broker_was_lost(check):
    topics = ordered() | ordered(topic=P.lone_topic, replicas=[[P.lost]])
    topics |= {topic: [partition(0, [0, 1, 2])] for topic in P.delay_topics.values()}
    logs = dict.fromkeys(P.delay_topics.values(), numbers(120)) | {P.lone_topic: LONE}
    found = result(LAB, check, logs, TYPED, topics)
    assert found.outcome is Outcome.FAIL
    assert all(found.messages)


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("moved_partitions", "of these had another leader before the loss"),
        ("leaders_are_counted", "the first broker of each list leads"),
        ("back_without_the_lead", "its broker is first in another number"),
        ("lone_topic_is_back", "the topic holds another number"),
    ],
)
def test_no_message_tells_the_number_that_is_asked_for(check, said):
    topics = ordered((2, 2, 2)) | ordered((2, 2, 2), P.lone_topic, [[P.lost]])
    values = TYPED | {"moved": [99], "led": {0: 99}, "leads_again": 99, "lone_again": 99}
    found = result(LAB, check, {P.lone_topic: LONE}, values, topics)
    assert found.messages
    assert said in found.messages[0]
    asked = (TYPED["leads_again"], P.lone) if "led is" not in found.messages[0] else ()
    assert not any(f" {number} " in found.messages[0] for number in asked)


def test_acknowledgement_by_the_leader_alone_is_seen():
    log = {P.topic: [record(n % 13, n, b"%d" % n) for n in range(1, P.records + 1)]}
    for acks, outcome in ((-1, Outcome.PASS), (1, Outcome.FAIL)):
        values = {"sender": SimpleNamespace(config={"acks": acks})}
        assert result(LAB, "all_must_acknowledge", log, values).outcome is outcome
