"""A check that breaks, falls silent or passes for another answer is found without a cluster."""

import json

import pytest

from grading.judge.checks import check, equal, expect, run
from grading.judge.log import Log
from grading.judge.outcome import Outcome
from grading.judge.witness import Witnessed, unwritten, written
from grading.prove.hostile import weaknesses
from tests.grading.state import Logs, Notebook, parameters, record

P = parameters("lab01")
TOLD = Notebook({"numbers": [3, 1, 2], "table": {"a": [1, 2]}})
LOGS = Logs({"some": Log([record(0, n, json.dumps([n]).encode()) for n in range(3)])})


def found(function):
    """What is said of a check that passes here."""
    one = check(1, points=1, title="")(function)
    x = Witnessed(TOLD, LOGS, P, "seed")
    x.begin(one.id)
    assert run(one, x).outcome is Outcome.PASS
    return "\n".join(weaknesses([one], unwritten(written(x.transcript)), P, "seed"))


def in_a_form(x):
    numbers = x.value("numbers", list[int])
    yield equal("numbers", numbers, [3, 1, 2])
    yield equal("a", x.value("table", {"a": list[int]})["a"], [1, 2])
    yield equal("drawn", x.value(f"numbers[{x.rng.randrange(3)}] > 0", bool), True)
    log = x.read("some")
    yield equal("first", [r.json() for r in log if r.offset == 0], [[0]])


def sorts(x):
    yield equal("numbers", sorted(x.value("numbers")), [1, 2, 3])


def unpacks(x):
    first, *_ = x.value("table")["a"]
    yield equal("first", first, 1)


def takes_nothing_for_right(x):
    yield expect(not x.value("numbers or []", list[int], may_be_empty=True)[3:], "too many")


def says_nothing(x):
    yield x.value("numbers", list[int]) == [3, 1, 2], ""


def counts_in_records(x):
    yield equal("sum", sum(json.loads(r.value)[0] for r in x.read("some")), 3)


def test_a_check_that_asks_for_a_form_and_compares_has_no_weakness():
    assert found(in_a_form) == ""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (sorts, "numbers is None, breaks: TypeError"),
        (unpacks, "table is None, breaks: TypeError"),
        (takes_nothing_for_right, "numbers or [] is [], passes"),
        (says_nothing, "fails without a word"),
        (counts_in_records, "some is "),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_a_weakness_is_told_with_the_check_and_the_answer(function, said):
    assert found(function).startswith(function.__name__)
    assert said in found(function)


def test_what_went_wrong_before_is_told_and_not_asked_again():
    one = check(1, points=1, title="")(sorts)
    x = Witnessed(Notebook({"numbers": [1]}), LOGS, P, "seed")
    x.begin(one.id)
    run(one, x)
    assert "sorts says of what it saw before" in "".join(weaknesses([one], x.transcript, P, "seed"))


def test_of_the_other_answers_a_share_is_tried():
    tried = []

    @check(1, points=1, title="")
    def counts(x):
        tried.append(x)
        yield equal("numbers", x.value("numbers", list[int]), [3, 1, 2])

    x = Witnessed(TOLD, LOGS, P, "seed")
    x.begin(counts.id)
    assert run(counts, x).outcome is Outcome.PASS
    numbers = []
    for every in (1, 3):
        tried.clear()
        assert list(weaknesses([counts], x.transcript, P, "seed", every)) == []
        numbers.append(len(tried) - 1)  # first the right answer once more
    everything, third = numbers
    assert third in {everything // 3, everything // 3 + 1}
