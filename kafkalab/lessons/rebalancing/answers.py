"""What the exercises say of an answer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

from kafkalab.members import Event, Member
from kafkalab.wait import WaitTimeout


def refused_with(start: Callable[[Any], Member], orders: int) -> Callable[[Any], str]:
    """Of a number of records at once: a member is started with it and packs so many orders.

    The member writes down `packed`, `committed` and `refused`.
    """

    def problem(told: Any) -> str:
        if not isinstance(told, int) or told < 1:
            return "it should be a number, 1 at least."
        member = start(told)
        member.wait_for(
            lambda events: _ended(events, orders), what="a commit, or its refusal", timeout=60
        )
        refused = sum(event.what == "refused" for event in member.events)
        packed = sum(event.what == "packed" for event in member.events)
        member.stop()
        return f"after {packed} orders the commit was refused." if refused else ""

    return problem


def fenced_by(start: Callable[[Any], Member], older: Member) -> Callable[[Any], str]:
    """Of an instance id: a member is started with it, and the older one shall be refused for that.

    Members write down `assigned` and `error`.
    """

    def problem(told: Any) -> str:
        if not isinstance(told, str) or not told:
            return "it should be a text."
        start(told).wait_for(
            lambda events: any(event.what in ("assigned", "error") for event in events),
            what="an answer of the group",
            timeout=30,
        )
        if older.state == "ended":
            return f"{older.name} has ended: run the cells above again."
        with contextlib.suppress(WaitTimeout):
            older.wait_for(fence_of, what="the fence", timeout=6)
            return ""
        return f"{older.name} works on: the newcomer is a member of its own."

    return problem


def fence_of(events: Iterable[Event]) -> str | None:
    """What a member was told when it was fenced."""
    said = (str(event.facts["says"]) for event in events if event.what == "error")
    return next((one for one in said if "fenced" in one), None)


def _ended(events: list[Event], orders: int) -> bool:
    """One commit was refused, or so many orders are packed and their commit has its answer."""
    what = [event.what for event in events]
    done = what.count("packed") >= orders and what[-1] in ("committed", "refused")
    return done or "refused" in what
