"""What lesson 08 says of a table that a reader fills, and of a choice."""

import pytest

from kafkalab.lessons import durability

# Broker 2 is stopped before the second round, broker 1 before the third.
ROUNDS = [
    {(2, 1): 10, (2, 2): 10, (3, 1): 10, (3, 2): 10, (3, 3): 10},
    {(2, 1): 20, (2, 2): 20, (3, 1): 20, (3, 2): 20, (3, 3): 10},
    {(2, 1): 30, (2, 2): 20, (3, 1): 30, (3, 2): 20, (3, 3): 10},
]
MEASURED = {(2, 1): 1, (2, 2): 0, (3, 1): 2, (3, 2): 1, (3, 3): 0}


def test_copies_that_were_down_in_the_last_round_that_took_records():
    assert durability.may_be_down(ROUNDS, stopped=[2, 1]) == MEASURED


def test_a_table_is_compared_field_by_field():
    problem = durability.same_as(MEASURED)
    assert problem(dict(MEASURED)) == ""
    assert problem(MEASURED | {(3, 2): 2}) == (
        "the brokers did something else with 3 copies, minimum 2."
    )
    assert problem(dict.fromkeys(MEASURED, ...)) == "5 of 5 fields are still to be filled."
    assert problem({(3, 1): 2}) == "4 of 5 fields are still to be filled."


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
