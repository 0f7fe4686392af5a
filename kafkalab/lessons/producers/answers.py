"""What is not right yet of the answers to the exercises of lesson producers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka.producer.future import FutureRecordMetadata


def longest(config: Mapping[str, Any]) -> Callable[[float], str]:
    """Of the milliseconds after which the first send of a producer with these settings is over."""
    block, delivery = config["max_block_ms"], config["delivery_timeout_ms"]

    def problem(ms: float) -> str:
        if ms == block + delivery:
            return ""
        if ms == delivery:
            return "that begins where `send` returns, and the first `send` may block before."
        if ms > block + delivery:
            return "linger, answers and pauses are all within one of the settings."
        return "two settings bound the whole: one until `send` returns, one from there on."

    return problem


def failed(futures: Sequence[FutureRecordMetadata]) -> Callable[[Iterable[int]], str]:
    """Of the places of the futures that failed."""
    right = {place for place, future in enumerate(futures) if future.failed()}

    def problem(places: Iterable[int]) -> str:
        found = set(places)
        if found == right:
            return ""
        if found - right:
            return f"the record at place {min(found - right)} has arrived."
        return "one that failed is missing."

    return problem
