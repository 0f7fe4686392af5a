"""Wait for a condition, never for a time: the only place of the course that sleeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from kafkalab.errors import CourseError

T = TypeVar("T")


class WaitTimeout(CourseError):
    """A condition did not come true before its deadline."""


def wait_until(
    condition: Callable[[], T | None],
    *,
    timeout: float,
    what: str,
    seen: Callable[[], object] | None = None,
    every: float = 0.05,
    not_yet: tuple[type[BaseException], ...] = (),
    mend: str = "",
) -> T:
    """The first answer of `condition`, which is asked again after `every` seconds.

    `None` and `False` mean "not yet". All else is an answer, also 0 and what is empty: a condition
    that looks for something says `found or None`.

    `what` completes the sentence "waited 30 s for …". After `timeout` seconds `seen` (or else the
    last value of the condition) tells what was there instead, in a WaitTimeout. An exception of a
    type in `not_yet` counts as "not yet", and the last one is quoted; every other one passes
    through.
    """
    deadline = time.monotonic() + timeout
    while True:
        refusal: BaseException | None = None
        value: T | None = None
        try:
            value = condition()
        except not_yet as error:
            refusal = error
        if value is not None and value is not False:
            return value
        if time.monotonic() >= deadline:
            raise WaitTimeout(
                f"Waited {timeout:g} s for {what}.", _last_seen(refusal, value, seen), mend
            ) from refusal
        time.sleep(every)


def _last_seen(
    refusal: BaseException | None, value: object, seen: Callable[[], object] | None
) -> str:
    if seen is not None:
        return f"Last seen: {seen()}."
    if refusal is not None:
        return f"Last seen: {type(refusal).__name__}: {refusal}."
    return f"Last seen: {value!r}."
