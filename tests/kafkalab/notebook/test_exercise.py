import pytest

from kafkalab.notebook import exercise, kept


def last(offset):
    return "" if offset == 9 else "that is not the newest one."


def test_a_blank_stops_nothing():
    assert repr(exercise.check("newest", ..., last)).startswith("Not tried yet")


def test_a_wrong_answer_is_told_with_what_it_is_and_a_right_one_is_solved(on_page, work):
    on_page("03_reading")
    assert repr(exercise.check("newest", 8, last)) == (
        "Not yet: that is not the newest one. You have 8."
    )
    assert not kept.read(work)["03_reading"]["exercises"]["newest"]["solved"]
    assert repr(exercise.check("newest", 9, last)) == "Solved."
    assert kept.read(work)["03_reading"]["exercises"]["newest"]["solved"]


def test_once_solved_a_new_try_takes_nothing_away(on_page, work):
    on_page("03_reading")
    exercise.check("newest", 9, last)
    exercise.check("newest", 8, last)
    assert kept.read(work)["03_reading"]["exercises"]["newest"]["solved"]


@pytest.mark.parametrize("value", [None, "nine", [1], object()])
def test_a_value_of_another_kind_is_a_sentence(value):
    told = repr(exercise.check("newest", value, lambda offset: "" if offset > 8 else "earlier."))
    assert told.startswith("Not yet: this cannot be looked at: TypeError")
