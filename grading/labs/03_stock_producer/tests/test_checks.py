"""The checks of lab 03 against answers that are nearly right, or nothing at all."""

import json
from types import SimpleNamespace

import pytest
from kafka import KafkaProducer

from grading.define.definition import module
from grading.define.place import find
from grading.judge.outcome import Outcome
from grading.judge.score import of_check
from tests.grading.state import loaded, parameters, record, result

trade = module(find("lab03"), "trade")

LAB = "lab03"
P = parameters(LAB)
CHECKS = {one.id: one for one in loaded(LAB).checks}
NAME = P.stocks[0][0].encode()
STORED = {P.program_topic: [record(0, n, b"{}", NAME) for n in range(260)]}


def price(number, name, offset):
    partition = trade.place_of(name, P.partitions, P.important)
    return record(partition, offset, b"{}", name.encode(), (("number", b"%d" % number),))


def prices(each=30):
    """A log in which every stock has so many prices, numbered from 1."""
    return [
        price(number, name, offset * each + number)
        for offset, (name, *_) in enumerate(P.stocks)
        for number in range(1, each + 1)
    ]


def lost(log, **counts):
    numbers = {"prices_tried": len(log), "acknowledged": len(log), **counts}
    values = {
        "prices_tried": numbers["prices_tried"],
        "trading": SimpleNamespace(acknowledged=numbers["acknowledged"]),
    }
    return result(LAB, "no_price_is_lost", {P.topic: log}, values)


def test_prices_that_are_all_there_pass():
    assert lost(prices()).outcome is Outcome.PASS


@pytest.mark.parametrize(
    "change",
    [
        {"key": None},
        {"key": b"\xff"},
        {"headers": ()},
        {"headers": (("number", None),)},
        {"headers": (("number", b"9" * 5_000),)},
    ],
    ids=str,
)
def test_prices_without_a_key_or_a_number_earn_next_to_nothing(change):
    log = [record(0, n, b"{}", **{"key": b"IBM"} | change) for n in range(240)]
    found = lost(log)
    assert sum(finding.ok for finding in found.findings) <= 2, "that there are some, and how many"
    order = result(LAB, "order_is_kept", {P.topic: log}, {"to_json": None})
    assert order.outcome is Outcome.FAIL


def test_records_of_a_tool_are_no_prices():
    junk = [record(0, n, b"%d" % (7 * n)) for n in range(300)]
    assert not any(finding.ok for finding in lost(junk).findings)
    typed = {"lines": [name for name, *_ in P.stocks]}
    found = result(LAB, "samples_are_told", {P.topic: junk}, typed)
    assert not any(finding.ok for finding in found.findings)


def test_one_price_more_acknowledged_than_stored_is_told():
    assert "tried and acknowledged" in lost(prices(), acknowledged=241).messages[0]


@pytest.mark.parametrize("text", ['[["dollars", 1], ["cents", 2]]', "[" * 9_000, "null", "12", ""])
def test_what_is_no_object_is_no_price(text):
    values = {
        "StockPrice": lambda *given: given,
        "to_json": lambda given: text.encode(),
    }
    assert result(LAB, "json_has_its_form", values=values).outcome is Outcome.FAIL


def told(log, form="{name} partition {place}, offset {offset}", but=()):
    """What comes of a line for each hundredth price, but for those of some stocks."""
    lines = [
        form.format(name=one.key_text(), place=one.partition, offset=one.offset)
        for one in log
        if trade.number(one) % 100 == 0 and one.key_text() not in but
    ]
    return result(LAB, "samples_are_told", {P.topic: log}, {"lines": lines})


@pytest.mark.parametrize(
    "form",
    [
        "{name} 68.37 -> stock-prices, partition {place}, offset {offset}",
        "{name}: 68.37 lies in Partition {place}, Offset {offset}",
        "{name} PARTITION={place} OFFSET={offset}",
    ],
)
def test_a_sample_is_told_in_small_letters_or_large_ones(form):
    assert told(prices(each=110), form).outcome is Outcome.PASS


def test_a_stock_that_did_not_come_to_its_hundredth_price_costs_nothing():
    slow = P.stocks[0][0]
    log = [one for one in prices(each=110) if one.key_text() != slow or trade.number(one) < 90]
    assert told(log).outcome is Outcome.PASS
    assert told(log, but=[P.stocks[1][0]]).outcome is Outcome.PART
    nobody = told(prices(each=90))
    assert nobody.messages == ["no stock came beyond its hundredth price"]


def test_a_line_without_a_place_is_no_sample():
    """Where a stock had but one hundredth price, any line with its name was enough."""
    assert told(prices(each=110), "{name} is expensive").outcome is Outcome.FAIL
    assert told(prices(each=101), but=[P.stocks[1][0]]).outcome is Outcome.PART


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("IBM 68.37 failed: no topic", Outcome.PASS),
        ("Failed to send IBM", Outcome.PASS),
        ("IBM 68.37 sent", Outcome.FAIL),
    ],
)
def test_a_failure_is_told_in_small_letters_or_large_ones(line, outcome):
    hopeless = SimpleNamespace(done=lambda: True, exception=lambda: None)
    values = {"complaints": [line] * 3, "hopeless": hopeless}
    found = result(LAB, "trade_goes_on", {P.topic: prices()}, values)
    assert found.outcome is outcome, found


def in_force(**settings):
    values = {"shared": SimpleNamespace(config=KafkaProducer.DEFAULT_CONFIG | settings)}
    values["settings"] = lambda important: settings
    found = result(LAB, "settings_are_in_force", values=values)
    return of_check(CHECKS["settings_are_in_force"], found).reached


def test_settings_that_nobody_chose_earn_nothing():
    assert in_force() == 0
    chosen = {name: trade.SETTINGS[name] for name in trade.CHOSEN}
    assert in_force(**chosen) == 5
    assert 0 < in_force(**chosen | {"acks": 1}) < 5


def test_a_producer_that_is_typed_has_no_settings_in_force():
    typed = {"shared": SimpleNamespace(config=trade.SETTINGS)}
    assert result(LAB, "settings_are_in_force", values=typed).outcome is Outcome.FAIL


@pytest.mark.parametrize("place", [0, 3, -1, None, [1], "1"])
def test_one_place_for_all_is_no_answer_to_the_edges(place):
    def partition_of(key, partitions, important):
        if key is None:
            raise ValueError
        return place

    found = result(LAB, "edges_are_handled", values={"partition_of": partition_of})
    assert found.outcome is Outcome.FAIL


def ends(status=130, lines=("flushing", "closing"), asked=("flush", "close", "flush"), counts=130):
    last = {"sent": counts, "acknowledged": counts, "failed": 0, "asked": list(asked)}
    said = [*lines, json.dumps(last)]
    return {"ends": {"SIGINT": (status, said), "SIGTERM": (143, said)}}


def orderly(**given):
    return result(LAB, "end_is_orderly", STORED, ends(**given))


def test_an_end_in_order_passes_in_any_words():
    assert orderly().outcome is Outcome.PASS
    assert orderly(lines=["Now flushing", "flushing done", "Closing"]).outcome is Outcome.PASS
    assert orderly(asked=["flush", "flush", "close", "flush"]).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"asked": ("close", "flush")}, "was asked to ['close', 'flush']"),
        ({"asked": ()}, "was asked to do nothing"),
        ({"asked": ("flush",)}, "was asked to ['flush']"),
        ({"lines": ("closing", "flushing")}, "told the steps ['closing', 'flushing']"),
        ({"lines": ()}, "told the steps []"),
    ],
)
def test_a_flush_is_seen_and_not_only_told_of(given, said):
    found = orderly(**given)
    assert found.outcome is Outcome.PART
    assert said in found.messages[0]


@pytest.mark.parametrize(
    "check", ["status_tells_the_signal", "nothing_is_left_behind", "end_is_orderly"]
)
def test_a_program_that_traded_nothing_has_no_end_in_order(check):
    nothing = {P.program_topic: STORED[P.program_topic][:20]}
    found = result(LAB, check, nothing, ends(counts=10))
    assert found.outcome is Outcome.FAIL
    assert "they ended by themselves" in found.messages[0]


@pytest.mark.parametrize(
    "check", ["status_tells_the_signal", "nothing_is_left_behind", "end_is_orderly"]
)
@pytest.mark.parametrize(
    ("value", "outcome"),
    [(b"7", Outcome.FAIL), (b'{"name": "' + NAME + b'"}', Outcome.PASS)],
)
def test_what_is_no_price_was_not_traded_by_a_program(check, value, outcome):
    """A price may lack its key: that is another task's."""
    log = {P.program_topic: [record(0, n, value) for n in range(260)]}
    assert result(LAB, check, log, ends()).outcome is outcome


@pytest.mark.parametrize("check", ["counts_add_up", "futures_come_back", "own_failures_pass_on"])
def test_counts_that_are_typed_beside_records_of_a_tool_earn_nothing(check):
    values = {
        "counting": SimpleNamespace(
            sent=P.good + P.too_large + 1, acknowledged=P.good, failed=P.too_large + 1
        ),
        "CountingProducer": lambda plain: SimpleNamespace(sent=0, acknowledged=0, failed=0),
        "plain": None,
        "reasons": ["MessageSizeTooLargeError"] * P.too_large,
        "passed_on": "TypeError",
    }
    sent = [record(0, n, b"%d" % n) for n in range(P.good)]
    assert result(LAB, check, {P.counted_topic: sent}, values).outcome is Outcome.PASS
    junk = [record(0, n, b"%d" % (7 * n)) for n in range(P.good)]
    assert result(LAB, check, {P.counted_topic: junk}, values).outcome is Outcome.FAIL


@pytest.mark.parametrize("last", ["", "[1, 2, 3]", "null", '{"sent": null}', "[" * 9_000, "Done"])
def test_a_last_line_that_holds_no_counts_is_told(last):
    values = ends()
    for _, said in values["ends"].values():
        said[-1] = last
    found = result(LAB, "nothing_is_left_behind", STORED, values)
    assert found.messages == ["after SIGINT the program did not come to its last line"]
