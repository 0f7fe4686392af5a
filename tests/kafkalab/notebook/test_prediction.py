import pytest

from kafkalab.errors import CourseError
from kafkalab.notebook import kept
from kafkalab.notebook.prediction import Prediction

WIDGET = "application/vnd.jupyter.widget-view+json"


def test_without_a_prediction_the_page_goes_on_and_says_what_was_measured():
    empty = Prediction("batches")
    assert empty.number is None
    assert "Nothing is kept yet" in repr(empty)
    assert repr(empty.against(11)) == "You did not predict it. Measured: 11 batches."


def test_a_prediction_is_kept_and_compared():
    kept = Prediction("pairs")
    assert kept.keep("20") == "Kept: you expect 20 pairs. Go on and see."
    assert kept.number == 20
    assert repr(kept.against(11)) == "You said 20. Measured: 11 pairs. Off by 9."


@pytest.mark.parametrize(
    ("said", "measured", "told"),
    [
        (11, 11, "That is your number."),
        (10, 11, "Close."),
        (13.1, 11, "Close."),
        (14, 11, "Off by 3."),
        (3, 12, "Off: 4 times as many as you said."),
        (600, 40, "Off: 15 times as few as you said."),
        (0, 5, "Off by 5."),
        (5, 0, "Off by 5."),
        (0, 0, "That is your number."),
        (-2, 6, "Off by 8."),
    ],
)
def test_it_says_how_close_it_was(said, measured, told):
    assert repr(Prediction("records", said=said).against(measured)).endswith(told)


@pytest.mark.parametrize(("measured", "shown"), [(1234, "1,234"), (41.27, "41.3"), (812.4, "812")])
def test_numbers_are_as_long_as_a_reader_needs(measured, shown):
    assert f"Measured: {shown} times." in repr(Prediction("times").against(measured))


@pytest.mark.parametrize(
    ("typed", "number"),
    [("1,000", 1000), (" 50 % ", 50), ("0.5", 0.5), ("1 000 000", 1_000_000), ("-3", -3)],
)
def test_numbers_are_taken_as_people_type_them(typed, number):
    prediction = Prediction("seconds")
    prediction.keep(typed)
    assert prediction.number == number


@pytest.mark.parametrize("typed", ["", "many", "nan", "inf", "1,0", "12 or 13"])
def test_what_is_no_number_is_told_at_once_and_not_kept(typed):
    prediction = Prediction("leaders")
    assert "is not a number" in prediction.keep(typed)
    assert prediction.number is None


@pytest.mark.parametrize("answer", ["many", True, [3]])
def test_an_answer_to_a_task_that_is_no_number_is_refused(answer):
    with pytest.raises(CourseError, match="is none"):
        Prediction("batches", said=answer)


def test_a_page_of_an_older_course_is_told_what_to_do():
    with pytest.raises(CourseError, match=r"\./course reset"):
        Prediction(None, "batches")


def test_it_is_still_there_when_the_cell_or_the_kernel_runs_again(on_page):
    on_page("03_reading")
    Prediction("records").keep(12)
    assert Prediction("records").number == 12
    assert Prediction("batches").number is None
    on_page("04_producers")
    assert Prediction("records").number is None


def test_what_came_of_it_is_kept_too(on_page, work):
    on_page("03_reading")
    prediction = Prediction("records")
    prediction.keep(12)
    prediction.against(11)
    assert kept.read(work)["03_reading"]["predictions"] == {
        "records": {"said": 12, "measured": 11.0, "verdict": "close"}
    }


def test_on_a_page_it_has_a_field_and_a_button(on_page):
    on_page("03_reading")
    prediction = Prediction("records")
    assert WIDGET in prediction._repr_mimebundle_()
    form = prediction.form()
    for typed, told in [("12", "Kept: you expect 12 records"), ("many", "is not a number")]:
        form.field.value = typed
        assert told in form.status
        form.tell("")
        form.button.click()
        assert told in form.status
    assert prediction.number == 12
    assert Prediction("records").form().field.value == "12"


def test_without_a_screen_it_is_words():
    assert set(Prediction("batches")._repr_mimebundle_()) == {"text/markdown", "text/plain"}
