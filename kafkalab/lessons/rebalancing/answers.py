"""What the exercises say of an answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafkalab.members import Event, Member
from kafkalab.wait import wait_until


def refused_with(
    start: Callable[[Any], Member], orders: int, seconds: float, limit: float
) -> Callable[[Any], str]:
    """Of a number of records at once: a member is started with it and packs so many orders.

    Each takes so many seconds, and `limit` is how long the member may go without a poll. It
    writes down `committed` and `refused`, with the `offsets` of what it had packed.
    """

    def problem(told: Any) -> str:
        if type(told) is not int or told < 1:
            return "it should be a number, 1 at least."
        member = start(told)
        member.wait_for(
            lambda events: _ended(events, orders), what="a commit, or its refusal", timeout=60
        )
        refused = sum(event.what == "refused" for event in member.events)
        packed = _packed(member.events)
        member.stop()
        if refused:
            return f"after {packed} orders the commit was refused."
        at_once = min(told, orders) * seconds
        if at_once >= limit:  # a client looks at its clock now and then only
            return f"they take {at_once:.1f} s, and he may be away for {limit:g} s: that was luck."
        return ""

    return problem


def fenced_by(
    start: Callable[[], Member], newcomer: str, team: Mapping[str, Member], timeout: float = 30
) -> Callable[[Any], str]:
    """Of a name: a newcomer is started, and who of all is fenced since shall be the one named.

    Members write down `error`. The newcomer and the fenced one end with the answer.
    """

    def problem(told: Any) -> str:
        names = [*team, newcomer]
        if told not in names:
            return f"it should be the name of one of {', '.join(names)}."
        since = time.monotonic_ns()
        everybody = {**team, newcomer: start()}

        def fenced() -> str | None:
            for name, member in everybody.items():
                if fence_of(event for event in member.events if event.at > since):
                    return name
            return None

        try:
            out = wait_until(fenced, timeout=timeout, what="somebody who is fenced")
        finally:
            everybody[newcomer].stop()
        everybody[out].stop()
        return "" if told == out else f"{told} works on, and another was put out."

    return problem


def fence_of(events: Iterable[Event]) -> str | None:
    """What a member was told when it was fenced."""
    said = (str(event.facts["says"]) for event in events if event.what == "error")
    return next((one for one in said if "fenced" in one), None)


def _packed(events: list[Event]) -> int:
    answered = (event for event in events if event.what in ("committed", "refused"))
    return sum(len(event.facts["offsets"]) for event in answered)


def _ended(events: list[Event], orders: int) -> bool:
    """One commit was refused, or so many orders are packed and committed."""
    return _packed(events) >= orders or any(event.what == "refused" for event in events)
