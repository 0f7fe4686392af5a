import pytest

from kafkalab import WaitTimeout, wait_until


def test_none_and_false_mean_not_yet() -> None:
    values = iter([None, False, 7, 8])
    assert wait_until(lambda: next(values), timeout=1, what="seven", every=0) == 7


@pytest.mark.parametrize("answer", [0, "", [], 0.0])
def test_nothing_and_empty_are_answers(answer: object) -> None:
    values = iter([None, answer, 7])
    assert wait_until(lambda: next(values), timeout=1, what="an answer", every=0) is answer


def test_the_deadline_names_what_was_waited_for_and_what_was_there() -> None:
    with pytest.raises(WaitTimeout) as caught:
        wait_until(lambda: None, timeout=0, what="a leader")
    assert caught.value.lines() == ["Waited 0 s for a leader.", "Last seen: None."]


def test_the_caller_can_say_what_was_seen() -> None:
    with pytest.raises(WaitTimeout, match="Last seen: two of three"):
        wait_until(lambda: False, timeout=0, what="three", seen=lambda: "two of three")


def test_named_exceptions_count_as_not_yet_and_the_last_is_quoted() -> None:
    def fail() -> bool:
        raise ConnectionRefusedError("nobody there")

    with pytest.raises(WaitTimeout, match="ConnectionRefusedError: nobody there") as caught:
        wait_until(fail, timeout=0, what="a broker", not_yet=(OSError,))
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)


def test_other_exceptions_pass_through() -> None:
    def fail() -> bool:
        raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        wait_until(fail, timeout=5, what="anything", not_yet=(OSError,))


def test_a_condition_that_comes_true_late_is_not_missed() -> None:
    calls = []

    def third_time() -> bool:
        calls.append(1)
        return len(calls) == 3

    assert wait_until(third_time, timeout=5, what="the third time", every=0.001)
