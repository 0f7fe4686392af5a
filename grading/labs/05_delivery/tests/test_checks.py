"""The checks of lab 05 against answers that are nearly right."""

from grading.define.definition import module
from grading.define.place import find
from grading.judge.outcome import Outcome
from tests.grading.state import result

PROMISES = module(find("lab05"), "checks").PROMISES


def test_a_word_that_is_no_answer_is_told_from_one_that_is_wrong():
    assert result("lab05", "promises_are_named", values={"promises": PROMISES}).outcome is (
        Outcome.PASS
    )
    mine = PROMISES | {"once": "exactly once", "led": "at most once"}
    led, once = result("lab05", "promises_are_named", values={"promises": mine}).messages
    assert led.startswith("led: not 'at most once'; what can each fault do")
    assert "say one of" in once
    assert "'written once'" in once
