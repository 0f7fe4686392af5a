"""What follows from the measurements for the choice of copies and minimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Combination = tuple[int, int]
"""Copies and minimum of in-sync replicas."""


def may_be_down(
    rounds: Sequence[Mapping[Combination, int]], stopped: Sequence[int]
) -> dict[Combination, int]:
    """How many copies were down when records were still acknowledged, for each combination.

    rounds: how many had been acknowledged after each round. Before the second one the first of the
    `stopped` brokers was stopped, and so on. The copies of a topic lie on brokers 0, 1, ….
    """
    found: dict[Combination, int] = {}
    before: Mapping[Combination, int] = {}
    for number, taken in enumerate(rounds):
        for (copies, minimum), count in taken.items():
            if count > before.get((copies, minimum), 0):
                gone = sum(broker < copies for broker in stopped[:number])
                found[copies, minimum] = gone
        before = taken
    return found


def same_as(measured: Mapping[Combination, int]) -> Callable[[Mapping[Combination, Any]], str]:
    """For `exercise.check`: which fields of a table differ from what was measured."""

    def problem(table: Mapping[Combination, Any]) -> str:
        if missing := [one for one in measured if table.get(one, ...) is ...]:
            return f"{len(missing)} of {len(measured)} fields are still to be filled."
        wrong = [one for one in measured if table[one] != measured[one]]
        named = " and ".join(f"{copies} copies, minimum {least}" for copies, least in wrong)
        return f"the brokers did something else with {named}." if wrong else ""

    return problem


def fit_for_payments(choice: Mapping[str, Any]) -> str:
    """For `exercise.check`: what is against these `copies`, this `minimum` and these `acks`.

    Wanted: one broker may fail at any time, and sending goes on, and no acknowledged record rests
    on one broker alone.
    """
    copies, minimum, acks = (choice[name] for name in ("copies", "minimum", "acks"))
    if ... in (copies, minimum, acks):
        return "three fields are to be filled."
    if acks not in ("all", -1):
        return f"acks={acks} does not ask how many replicas have the record."
    if minimum > copies:
        return "there cannot be more replicas in sync than copies."
    if minimum < 2:
        return "a record may be acknowledged while one broker alone has it."
    if minimum == copies:
        return "one broker stops for maintenance, and nothing is accepted any more."
    return ""
