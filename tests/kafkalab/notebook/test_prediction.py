import pytest

from kafkalab.errors import CourseError
from kafkalab.notebook.prediction import Prediction


def test_an_empty_prediction_asks_for_a_number_and_does_not_stop_the_lesson():
    empty = Prediction(None, "batches")
    assert "No prediction yet" in empty._repr_markdown_()
    assert repr(empty.against(11)) == "Measured: 11 batches."


def test_a_prediction_is_kept_and_compared():
    kept = Prediction(20, "batches")
    assert repr(kept) == "Kept: you expect 20 batches."
    assert repr(kept.against(11)) == "You said 20. Measured: 11 batches."


def test_the_right_number_is_named_as_such():
    assert "That is your number." in repr(Prediction(11, "batches").against(11))


@pytest.mark.parametrize(("measured", "shown"), [(1234, "1,234"), (41.27, "41.3"), (812.4, "812")])
def test_numbers_are_as_long_as_a_reader_needs(measured, shown):
    assert repr(Prediction(None, "times").against(measured)) == f"Measured: {shown} times."


@pytest.mark.parametrize("answer", ["many", True, [3]])
def test_an_answer_that_is_no_number_is_refused_with_an_example(answer):
    with pytest.raises(CourseError) as refused:
        Prediction(answer, "batches")
    assert "Prediction(12, 'batches')" in str(refused.value)
