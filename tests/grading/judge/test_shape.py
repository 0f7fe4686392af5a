"""Whatever the name of an answer holds, a check reads it in a form or says what it saw."""

import collections
import itertools
import json

import pytest

from grading.judge.checks import Unseen, check, equal, run
from grading.judge.outcome import Outcome
from grading.judge.shape import Misshapen, shaped
from grading.judge.visible import Visible
from tests.grading.state import Logs, Notebook, parameters, record

PRICE = {"name": str, "tried": list[tuple[int, int | None]]}
PAIR = {"pair": list[float]}
HOSTILE = {
    "nothing": None,
    "an endless iterator": itertools.count(),
    "a generator": (n for n in range(3)),
    "a function": len,
    "a type": dict,
    "bytes": b"text",
    "a set of unlike things": {1, "a", None},
    "keys of two kinds": {(1, 2): 3},
    "no number": float("nan"),
    "without bounds": float("inf"),
    "a truth": True,
    "text": "text",
    "a whole number": 7,
    "a long number": 10**30,
    "a longer number": 10**5000,
    "empty": [],
    "an empty table": {},
    "tables": [{"a": 1}],
    "lists": [[[1]]],
    "a deep list": json.loads("[" * 400 + "]" * 400),
    "a counter": collections.Counter("aab"),
}
FORMS = [
    int,
    float,
    str,
    bool,
    list[int],
    set[int],
    tuple[int, str],
    dict[str, int],
    dict[int, list[str]],
    {"leader": int, "isr": list[int]},
    list[PRICE],
    int | None,
    list[object],
]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_value_of_any_kind_never_breaks_a_check(name, form):
    x = Visible(Notebook({"answer": HOSTILE[name]}), Logs({}), parameters("lab01"), "seed")

    @check(1, points=1, title="")
    def reads(x):
        yield equal("answer", x.value("answer", form), object())

    found = run(reads, x)
    assert found.outcome is Outcome.FAIL, found.detail
    assert found.messages[0].startswith(
        ("answer", "one of answer", "the notebook", "Value", "Type")
    )


@pytest.mark.parametrize(
    ("value", "form", "read"),
    [
        (3.0, int, 3),
        (3, float, 3.0),
        ([1, "a"], tuple[int, str], (1, "a")),
        ([2, 1, 2], set[int], {1, 2}),
        ({"1": ["a"]}, dict[int, list[str]], {1: ["a"]}),
        ({"a": 1, "b": 2}, {"a": int}, {"a": 1}),
        (None, int | None, None),
    ],
)
def test_json_is_turned_back(value, form, read):
    assert shaped("answer", value, form) == read


@pytest.mark.parametrize(
    ("value", "form", "said"),
    [
        (True, int, "answer: expected a whole number, saw True"),
        ("7", int, "answer: expected a whole number, saw '7'"),
        ([[1, 2], [3]], list[tuple[int, int]], "answer[1]: expected (a whole number, a whole"),
        ([{"value": 1}], list[PAIR], "answer[0] lacks the key 'pair'"),
        ({"a": "x"}, dict[str, int], "answer['a']: expected a whole number, saw 'x'"),
    ],
)
def test_another_form_is_told_in_a_sentence(value, form, said):
    with pytest.raises(Misshapen) as told:
        shaped("answer", value, form)
    assert str(told.value).startswith(said)


def test_nothing_is_an_answer_only_where_a_check_says_so():
    x = Visible(Notebook({"answer": []}), Logs({"empty": []}), parameters("lab01"), "seed")
    for read in (lambda: x.value("answer", list[int]), lambda: x.read("empty")):
        with pytest.raises(Unseen, match="is empty"):
            read()
    assert x.value("answer", list[int], may_be_empty=True) == []
    assert x.read("empty", may_be_empty=True) == []


def test_what_lies_in_a_record_may_be_anything():
    odd = record(0, 0, b"9" * 9_000, headers=(("row", None),))
    assert (odd.number(), odd.header("row"), odd.header("none")) == (None, "", "")
    with pytest.raises(Unseen, match="is not JSON"):
        record(0, 0, b"[" * 100_000).json()
