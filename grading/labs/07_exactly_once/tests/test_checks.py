"""The checks of lab 07 without a cluster: what the books held, against what the log holds."""

import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from grading.judge.checks import Result, share
from grading.judge.outcome import Outcome
from tests.grading.state import parameters, partition, record
from tests.grading.state import result as result_of

LAB = "lab07_exactly_once"
P = parameters(LAB)
STOCKS = P.stocks
ROWS = [[n % 2, n // 2, STOCKS[n % 2], 100 + n] for n in range(60)]
"""Each trade of the log, booked once."""
PRICES = [[STOCKS[0], 158, 0, 29], [STOCKS[1], 159, 1, 29]]
HONEST: dict[str, Any] = {"kills": 4, "unfetched": 0, "strays": 0, "others": 0, "trades": ROWS}
HONEST |= {"prices": PRICES, "told": 9, "booked": 0, "same": True, "foretold": 3, "torn": 0}
HONEST |= {"commits": 9, "most": 9, "hollow": 0, "stayed": 0}
START = {"commits": 7, "most": 5, "hollow": 2}
HONEST |= {"starts": [START, START, START]}
HONEST |= {"readers": {"clerk-1": [0, 1], "clerk-2": [1]}, "moved": ROWS[:40], "until": [20, 20]}
HONEST |= {"ends": [30, 30]}
TOPICS = {1: P.careless, 2: P.killed, 3: P.locked, 4: P.shared}
OF_BOOKS = {
    "killed_and_once_each": 2,
    "refused_and_once_each": 3,
    "moved_and_once_each": 4,
    "kafka_may_be_wrong": 4,
}


def log() -> list:
    return [
        record(part, offset, json.dumps({"cents": cents}).encode(), stock.encode())
        for part, offset, stock, cents in ROWS
    ]


def result(check: str, task: int, values: dict[str, Any] | None = None, **seen: Any) -> Result:
    logs = {topic: log() for topic in TOPICS.values()}
    topics = {topic: [partition(0, [0]), partition(1, [0])] for topic in TOPICS.values()}
    kept = {number: dict(HONEST) for number in TOPICS}
    kept[task] |= seen
    return result_of(LAB, check, logs, values, topics, kept)


@pytest.mark.parametrize(("check", "task"), OF_BOOKS.items())
def test_books_with_each_trade_once_pass(check: str, task: int) -> None:
    assert result(check, task).outcome is Outcome.PASS


BROKEN: dict[str, Callable[[list], object]] = {
    "booked more than once": lambda rows: rows.append(rows[3]),
    "never booked": lambda rows: rows.pop(5),
    "another trade": lambda rows: rows.__setitem__(4, [0, 2, STOCKS[0], 1]),
    "tell of another": lambda rows: rows.append([9, 9, "x", 1]),
}


@pytest.mark.parametrize("words", BROKEN)
@pytest.mark.parametrize(("check", "task"), OF_BOOKS.items())
def test_one_row_too_many_or_too_few_is_told(check: str, task: int, words: str) -> None:
    rows = [list(row) for row in ROWS[: 40 if check.startswith("moved") else None]]
    BROKEN[words](rows)
    found = result(check, task, trades=rows, moved=rows)
    assert found.outcome is Outcome.FAIL
    assert words in found.messages[0]


@pytest.mark.parametrize("seen", ["unfetched", "strays", "others"])
@pytest.mark.parametrize(("check", "task"), [*OF_BOOKS.items(), ("prices_are_the_newest", 2)])
def test_rows_that_no_clerk_can_have_written_count_for_nothing(
    check: str, task: int, seen: str
) -> None:
    found = result(check, task, **{seen: 1})
    assert (found.outcome, share(found)[0]) == (Outcome.FAIL, 0)


@pytest.mark.parametrize("odd", [None, "", "text", -1, "\0"])
def test_odd_values_in_the_books_break_no_check(odd: object) -> None:
    rows, prices = [[odd] * 4, [odd] * 4, *ROWS, ROWS[0]], [[odd] * 4, *PRICES]
    for check, task in {**OF_BOOKS, "prices_are_the_newest": 2, "repeated_are_found": 1}.items():
        found = result(check, task, {"again_1": [1]}, trades=rows, moved=rows, prices=prices)
        assert found.outcome in {Outcome.FAIL, Outcome.PART}, (check, found)
        assert all(found.messages)


def test_the_repeated_ones_are_those_of_the_books() -> None:
    twice = [*ROWS, ROWS[0], ROWS[2], ROWS[4]]
    assert result("repeated_are_found", 1, {"again_1": [2, 0, 1]}, trades=twice).outcome == "pass"
    for wrong in ([0, 1], [0, 1, 1, 2], [0, 1, 2, 3], []):
        found = result("repeated_are_found", 1, {"again_1": wrong}, trades=twice)
        assert found.outcome is Outcome.FAIL
        assert "[" not in found.messages[0], "the answer is not told"


@pytest.mark.parametrize(
    ("check", "task", "seen"),
    [
        ("kafka_is_told_first", 2, {"told": 0}),
        ("kafka_is_told_first", 2, {"booked": 3}),
        ("killed_and_once_each", 2, {"kills": 3}),
        ("batch_is_one_transaction", 2, {"commits": 10}),
        ("batch_is_one_transaction", 2, {"hollow": 1}),
        ("batch_is_one_transaction", 2, {"torn": 1}),
        ("batch_is_one_transaction", 2, {"starts": [START | {"commits": 8}, START, START]}),
        ("batch_is_one_transaction", 2, {"starts": [START, START | {"hollow": 3}, START]}),
        ("refused_and_once_each", 3, {"stayed": 1}),
        ("prices_are_the_newest", 2, {"torn": 1}),
        ("prices_are_the_newest", 2, {"prices": PRICES[:1]}),
        ("prices_are_the_newest", 2, {"prices": [*PRICES, ["XXX", 1, 0, 0]]}),
        ("prices_are_the_newest", 2, {"prices": [PRICES[0], [STOCKS[1], 157, 1, 28]]}),
        ("same_process_goes_on", 3, {"same": False}),
        ("moved_and_once_each", 4, {"readers": {"clerk-1": [0, 1]}}),
    ],
)
def test_what_is_not_as_asked_fails(check: str, task: int, seen: dict[str, Any]) -> None:
    assert result(check, task).outcome is Outcome.PASS
    assert result(check, task, **seen).outcome in {Outcome.FAIL, Outcome.PART}


def test_prices_that_stay_wrong_do_not_speak_against_the_transaction() -> None:
    found = result("batch_is_one_transaction", 2, torn=9, prices=PRICES[:1])
    assert found.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("foretold", "said", "outcome"),
    [(3, 3, Outcome.PASS), (None, 3, Outcome.FAIL), (2, 3, Outcome.FAIL), (2, 2, Outcome.FAIL)],
)
def test_a_prediction_was_there_before_the_answer(
    foretold: int | None, said: int, outcome: Outcome
) -> None:
    seen = {"trades": [*ROWS, ROWS[0], ROWS[2], ROWS[4]], "foretold": foretold}
    found = result("repeated_were_foretold", 1, {"predicted_1": said}, **seen)
    assert found.outcome is outcome


def booked_in_memory(text: str) -> dict[str, Any]:
    """The names that the check of an older trade uses, with this statement for prices."""
    from shop import open_books

    def book(db: Any, part: int, records: list[SimpleNamespace], tell: Callable) -> None:
        for one in records:
            db.execute(text, (one.key, one.value["cents"], part, one.offset))
        tell()

    return {"book": book, "open_books": open_books}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("REPLACE INTO prices VALUES (?, ?, ?, ?)", Outcome.FAIL),
        ("INSERT OR IGNORE INTO prices VALUES (?, ?, ?, ?)", Outcome.PASS),
    ],
)
def test_an_older_trade_is_tried(
    text: str, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grading.define import definition

    monkeypatch.syspath_prepend(definition.load(LAB).place.student)
    assert result("older_changes_nothing", 2, booked_in_memory(text)).outcome is outcome


RIGHT = {"records": 60, "rows": 60, "missing": 0, "twice": 0}
NOTHING = dict.fromkeys(RIGHT, 0)
NEWEST = {STOCKS[0]: 158, STOCKS[1]: 159}


def test_the_report_is_held_against_books_and_log() -> None:
    report = {P.careless: RIGHT, P.killed: RIGHT}
    assert result("report_is_true", 1, {"report": report}).outcome is Outcome.PASS
    other = {"report": report | {P.killed: RIGHT | {"twice": 1}}}
    assert result("report_is_true", 1, other).outcome is Outcome.PART
    half = {P.killed: RIGHT}
    assert result("report_is_true", 1, {"report": half}).outcome is Outcome.PART
    assert result("report_is_true", 1, {"report": report}, others=1).outcome is Outcome.PART
    assert result("newest_by_spark", 2, {"newest": NEWEST}).outcome is Outcome.PASS
    assert result("newest_by_spark", 2, {"newest": NEWEST | {"X": 1}}).outcome is Outcome.FAIL


def share_of(check: str, report: dict[int, dict], newest: dict, *blank: int) -> float:
    """What a check of task 5 gives where these tasks have no answer."""
    empty = [TOPICS[task] for task in blank]
    logs = {topic: [] if topic in empty else log() for topic in TOPICS.values()}
    topics = {
        topic: [replace(partition(0, [0]), end_offset=0 if topic in empty else 30)]
        for topic in logs
    }
    kept = {task: dict(HONEST) for task in TOPICS if task not in blank}
    values = {"report": {TOPICS[task]: said for task, said in report.items()}, "newest": newest}
    good, of = share(result_of(LAB, check, logs, values, topics, kept))
    return good / of


@pytest.mark.parametrize(
    ("blank", "report", "newest", "shares"),
    [
        ([2], {1: RIGHT, 2: NOTHING}, {}, (1, 1)),
        ([1], {1: NOTHING, 2: RIGHT}, NEWEST, (1, 1)),
        ([2], {1: RIGHT, 2: RIGHT}, NEWEST, (0.5, 0)),
        ([2], {1: NOTHING, 2: NOTHING}, {}, (0.5, 0)),
        ([1], {1: RIGHT, 2: RIGHT}, {}, (0.5, 0)),
        ([1, 2], {1: NOTHING, 2: NOTHING}, {}, (0, 0)),
    ],
)
def test_a_blank_task_takes_nothing_from_a_true_report(
    blank: list[int], report: dict, newest: dict, shares: tuple[float, float]
) -> None:
    checks = ("report_is_true", "newest_by_spark")
    assert tuple(share_of(check, report, newest, *blank) for check in checks) == shares


def test_a_topic_that_was_emptied_is_none_that_nobody_booked() -> None:
    kept = {1: dict(HONEST), 2: dict(HONEST)}
    logs = {P.careless: log(), P.killed: []}
    values = {"report": {P.careless: RIGHT, P.killed: NOTHING}, "newest": {}}
    for check, outcome in (("report_is_true", Outcome.PART), ("newest_by_spark", Outcome.FAIL)):
        assert result_of(LAB, check, logs, values, {}, kept).outcome is outcome
