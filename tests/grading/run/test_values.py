"""What a check asks of a notebook does not depend on what the student calls things."""

import itertools
import json
from collections.abc import Collection

import pytest

from grading.define.definition import Limits
from grading.judge.checks import Unseen
from grading.lab import OwnNotebook, no_value
from grading.run import values
from grading.run.graded_notebook import limit_of_value
from grading.run.pace import longer, slowness

TAKEN = ("list", "sorted", "int", "str", "len", "sum", "type", "globals", "vars", "eval")


@pytest.mark.parametrize(
    "expression",
    ["list((1,))", "sorted([1])", "int(1)", "str(1)", "[len(one) for one in found]", "mine"],
)
def test_names_of_python_that_a_student_took_stand_in_no_way(expression, monkeypatch):
    names = dict.fromkeys(TAKEN, 0) | {"found": [[1], []], "mine": 5}
    expected = eval(expression, {"found": [[1], []], "mine": 5})
    code = values.code(expression)
    in_kernel = eval(code, names)
    assert json.loads(bytes.fromhex(in_kernel)) == expected

    class Shell:
        user_ns = names

    monkeypatch.setattr("grading.lab.get_ipython", Shell)
    assert OwnNotebook().value(expression) == expected, "lab.check() reads it in the same way"
    assert names["list"] == 0


def test_a_value_that_is_not_there_is_named_and_not_how_it_is_asked_for():
    asked = "[[int(p), q] for p, q in sorted(receipts)] + [lambda one: one + more]"
    assert str(no_value(asked, "TypeError", "no number")) == (
        "the notebook has no usable value of receipts, more: TypeError: no number"
    )
    gone = no_value(asked, "NameError", "name 'receipts' is not defined")
    assert str(gone) == "the notebook has no receipts yet"


def test_a_busy_machine_has_longer():
    assert limit_of_value(0, slowness(0.5, 2)) == 10
    assert limit_of_value(0, slowness(6, 2)) == 30
    assert limit_of_value(0, slowness(500, 2)) == 60, "but not for ever"
    assert limit_of_value(59, slowness(1, 2)) == 1
    assert limit_of_value(100, slowness(1, None)) == 0.5
    limits = longer(Limits(cell=60, run=300), slowness(5, 2))
    assert (limits.cell, limits.run, limits.output) == (150, 750, Limits().output)


class Endless(Collection):
    """Hands out parts for ever, each made by `part`."""

    def __init__(self, part=lambda: 1):
        self.part = part

    def __iter__(self):
        while True:
            yield self.part()

    def __len__(self):
        return 3

    def __contains__(self, thing):
        return True


class EndlessList(list):
    __iter__ = Endless.__iter__
    part = staticmethod(lambda: 1)


class EndlessTable(dict):
    def items(self):
        return ((n, n) for n in itertools.count())


class Own:
    def tolist(self):
        return [self, self]


HOLDS_ITSELF = []
HOLDS_ITSELF.append(HOLDS_ITSELF)
WITHOUT_END = {
    "a collection": (Endless(), "no end"),
    "a list": (EndlessList([1]), "no end"),
    "a table": (EndlessTable(), "no end"),
    "in each place one more": (Endless(lambda: Endless(lambda: [1] * 1_000)), "no end"),
    "itself as a list": (Own(), "holds itself"),
    "a list in itself": (HOLDS_ITSELF, "holds itself"),
    "a long list": ([0] * 10**6, "more than 200,000 parts"),
    "an iterator": (itertools.repeat(1), "a repeat is no number, text, list or table"),
    "a generator": ((n for n in itertools.count()), "a generator is no number"),
}


@pytest.mark.parametrize("name", WITHOUT_END)
def test_what_has_no_end_is_told_in_a_sentence(name, monkeypatch):
    thing, said = WITHOUT_END[name]
    with pytest.raises((TypeError, ValueError), match=said):
        eval(values.code("mine['all']"), {"mine": {"all": thing}})

    class Shell:
        def __init__(self):
            self.user_ns = {"mine": thing}

    monkeypatch.setattr("grading.lab.get_ipython", Shell)
    with pytest.raises(Unseen, match=f"no usable value of mine: .*{said}"):
        OwnNotebook().value("mine")
