"""What the exercises say of an answer."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from typing import Any

from kafkalab.members import Event, Member
from kafkalab.wait import WaitTimeout


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


def fenced_by(start: Callable[[Any], Member], older: Member) -> Callable[[Any], str]:
    """Of an instance id: a member is started with it, and the older one shall be refused for that.

    Members write down `assigned` and `error`. Both end with the answer.
    """

    def problem(told: Any) -> str:
        if not isinstance(told, str) or not told:
            return "it should be a text."
        older.wait_for(_has_answer, what="partitions")
        since = time.monotonic_ns()
        newcomer = start(told)
        try:
            newcomer.wait_for(_has_answer, what="an answer of the group", timeout=30)
            with contextlib.suppress(WaitTimeout):
                older.wait_for(
                    lambda events: fence_of(e for e in events if e.at > since),
                    what="the fence",
                    timeout=6,
                )
                return ""
            return f"{older.name} works on: the newcomer is a member of its own."
        finally:
            newcomer.stop()
            older.stop()

    return problem


def fence_of(events: Iterable[Event]) -> str | None:
    """What a member was told when it was fenced."""
    said = (str(event.facts["says"]) for event in events if event.what == "error")
    return next((one for one in said if "fenced" in one), None)


def _has_answer(events: list[Event]) -> bool:
    return any(event.what in ("assigned", "error") for event in events)


def _packed(events: list[Event]) -> int:
    answered = (event for event in events if event.what in ("committed", "refused"))
    return sum(len(event.facts["offsets"]) for event in answered)


def _ended(events: list[Event], orders: int) -> bool:
    """One commit was refused, or so many orders are packed and committed."""
    return _packed(events) >= orders or any(event.what == "refused" for event in events)
