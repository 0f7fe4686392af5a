"""What lesson 08 says of a table that a reader fills, and of a choice."""

import pytest

from kafkalab.lessons import durability

# With a minimum of 1, 2 and 3; before the second and the third round a follower went.
ROUNDS = [[10, 10, 10], [20, 20, 10], [30, 20, 10]]
MEASURED = {1: 2, 2: 1, 3: 0}


def test_followers_that_were_down_in_the_last_round_that_took_records():
    assert durability.may_be_down(ROUNDS, (1, 2, 3)) == MEASURED


def test_a_table_is_compared_field_by_field():
    problem = durability.same_as(MEASURED)
    assert problem(dict(MEASURED)) == ""
    assert problem(MEASURED | {2: 2}) == "with a minimum of 2 the brokers did something else."
    assert "1 and of 3 the brokers" in problem({1: 1, 2: 1, 3: 1})
    assert problem(dict.fromkeys(MEASURED, ...)) == "3 of 3 fields are still to be filled."
    assert problem({1: 2}) == "2 of 3 fields are still to be filled."


@pytest.mark.parametrize(
    ("copies", "minimum", "acks", "word"),
    [
        (3, 2, "all", ""),
        (5, 3, -1, ""),
        (3, 2, 1, "acks=1"),
        (3, 1, "all", "one broker alone"),
        (3, 3, "all", "maintenance"),
        (2, 3, "all", "more replicas"),
        (3, ..., "all", "to be filled"),
    ],
)
def test_each_choice_hears_what_is_against_it(copies, minimum, acks, word):
    said = durability.fit_for_payments({"copies": copies, "minimum": minimum, "acks": acks})
    assert word in said
    assert bool(said) == bool(word)
