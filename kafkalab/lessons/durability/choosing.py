"""What follows from the measurements for the choice of copies and minimum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


def may_be_down(rounds: Sequence[Sequence[int]], minima: Iterable[int]) -> dict[int, int]:
    """How many followers were down when records were still acknowledged, for each minimum.

    rounds: how many had been acknowledged after each round, in the order of the minima. In the
    first all followers were there; before each other round one of them went.
    """
    found: dict[int, int] = {}
    for place, minimum in enumerate(minima):
        taken = [0, *(counts[place] for counts in rounds)]
        went_on = [down for down in range(len(rounds)) if taken[down + 1] > taken[down]]
        found[minimum] = max(went_on)
    return found


def same_as(measured: Mapping[int, int]) -> Callable[[Mapping[int, Any]], str]:
    """For `exercise.check`: which fields of a table differ from what was measured."""

    def problem(table: Mapping[int, Any]) -> str:
        if missing := [least for least in measured if table.get(least, ...) is ...]:
            return f"{len(missing)} of {len(measured)} fields are still to be filled."
        wrong = [f"{least}" for least in measured if table[least] != measured[least]]
        named = " and of ".join(wrong)
        return f"with a minimum of {named} the brokers did something else." if wrong else ""

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
