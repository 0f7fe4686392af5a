"""A seal is equal to its answer, whatever the form, and tells nobody what that is."""

import subprocess
import sys

import pytest

from grading.judge.sealed import Sealed, seal, sealed


@pytest.mark.parametrize("answer", [{1, 3}, "at most once", {"b": 2, "a": [1, None]}, 7_000, True])
def test_a_seal_fits_its_answer_alone(answer):
    right = Sealed("what", seal("what", answer))
    assert right == answer
    assert answer == right, "whichever stands first"
    others = [None, "", "at most", {1, 2, 3}, {1}, 8, False, {"a": [1]}, object(), right, {1, "a"}]
    assert [other for other in others if other == right] == []
    assert str(answer) not in repr(right)


def test_an_answer_in_another_order_is_the_same_and_for_another_question_another():
    assert seal("what", {3, 1}) == seal("what", [1, 3])
    assert seal("what", {"a": 1, "b": 2}) == seal("what", {"b": 2, "a": 1})
    assert seal("one", "neither") != seal("another", "neither")
    answers = sealed("promises", {name: seal(f"promises {name}", "x") for name in "ab"})
    assert answers == {"a": "x", "b": "x"}
    assert answers["a"].seal != answers["b"].seal


def test_a_value_without_end_is_no_answer():
    endless: list[object] = []
    endless.append(endless)
    assert Sealed("what", seal("what", 1)) != endless


def test_an_author_makes_one_on_the_command_line():
    command = [sys.executable, "-m", "grading.judge.sealed", "what", "{1, 3}"]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.stdout.strip() == seal("what", {3, 1})
