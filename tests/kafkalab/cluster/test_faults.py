"""Whom a fault of the network concerns, and when it lets a frame pass. No network here."""

import pytest

from kafkalab.gateway.faults import CUT, DELAY, DROP, THROTTLE, Faults, Rule
from kafkalab.gateway.framing import Request
from kafkalab.gateway.routes import Route

FIRST, SECOND = Route(0, "clients", 1, 2), Route(1, "clients", 3, 4)
INSIDE = Route(1, "nodes", 5, 6)
PRODUCE, FETCH = Request(api=0, client_id="p"), Request(api=1, client_id="c")


def with_rules(*rules: Rule) -> Faults:
    faults = Faults()
    faults.rules += rules
    return faults


def test_a_whole_cut_closes_the_listeners_of_clients() -> None:
    faults = with_rules(Rule(CUT, "clients", broker=0))
    assert faults.closed(FIRST)
    assert not faults.closed(SECOND)
    assert not faults.closed(INSIDE)
    faults.heal(1)
    assert faults.closed(FIRST)
    faults.heal(0)
    assert not faults.closed(FIRST)


def test_a_narrow_cut_leaves_the_listener_open() -> None:
    faults = with_rules(Rule(CUT, "clients", client_id="p"), Rule(CUT, "clients", apis=[3]))
    assert not faults.closed(FIRST)
    assert faults.forbids(SECOND, None, PRODUCE)
    assert not faults.forbids(SECOND, None, FETCH)
    assert faults.forbids(SECOND, None, Request(api=3, client_id="c"))


def test_an_isolated_node_neither_hears_nor_is_heard() -> None:
    faults = Faults()
    faults.isolated.add(1)
    assert faults.closed(INSIDE)
    elsewhere = Route(0, "nodes", 7, 8)
    assert not faults.closed(elsewhere)
    assert faults.forbids(elsewhere, 1, FETCH)
    assert not faults.forbids(elsewhere, 2, FETCH)
    assert not faults.closed(SECOND)
    faults.heal(1)
    assert not faults.closed(INSIDE)


def test_the_longest_delay_counts_and_lies_on_requests() -> None:
    faults = with_rules(
        Rule(DELAY, "clients", amount=0.2), Rule(DELAY, "clients", broker=1, amount=0.5)
    )
    assert faults.due(10, FIRST, "request", PRODUCE, 100) == pytest.approx(10.2)
    assert faults.due(10, SECOND, "request", PRODUCE, 100) == pytest.approx(10.5)
    assert faults.due(10, SECOND, "reply", PRODUCE, 100) == 10
    assert faults.due(10, INSIDE, "request", PRODUCE, 100) == 10


def test_a_narrow_line_is_shared_by_the_frames_of_one_direction() -> None:
    faults = with_rules(Rule(THROTTLE, "clients", amount=100))
    assert faults.due(10, FIRST, "request", PRODUCE, 50) == pytest.approx(10.5)
    assert faults.due(10, FIRST, "request", FETCH, 50) == pytest.approx(11)
    assert faults.due(10, FIRST, "reply", FETCH, 50) == pytest.approx(10.5)
    assert faults.due(10, SECOND, "request", FETCH, 50) == pytest.approx(10.5)
    assert faults.due(20, FIRST, "request", FETCH, 50) == pytest.approx(20.5)


def test_answers_are_dropped_as_often_as_asked() -> None:
    faults = with_rules(Rule(DROP, "clients", apis=[0], amount=2))
    dropped = [bool(faults.drops(FIRST, request)) for request in (PRODUCE, FETCH, PRODUCE, PRODUCE)]
    assert dropped == [True, False, True, False]


def test_the_questions_of_the_course_itself_are_not_slowed() -> None:
    faults = with_rules(Rule(DELAY, "clients", amount=5))
    assert faults.due(10, FIRST, "request", Request(api=3, client_id="kafkalab"), 50) == 10
