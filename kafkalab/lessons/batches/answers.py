"""What is not right yet of the answers to the exercises of lesson batches."""

from __future__ import annotations

import time
from typing import Any

from kafka.errors import KafkaTimeoutError
from kafka.future import Future

LIMIT = 3
PATIENCE = 5.0


class Silent:
    """A producer whose records get no answer; `futures` are those that it gave out."""

    def __init__(self) -> None:
        self.futures: list[Future] = []

    def send(self, topic: str, value: bytes) -> Future:
        """As KafkaProducer's, without any broker."""
        self.futures.append(Future())
        return self.futures[-1]


def bounded(kind: Any) -> str:
    """Of a class that puts a bound around a producer: what fits goes in, the next one is refused
    after a while, and an answer makes room again."""
    silent = Silent()
    producer = kind(silent, LIMIT)
    for number in range(LIMIT):
        try:
            producer.send("topic", value=b"")
        except KafkaTimeoutError:
            return f"record {number + 1} is refused, and {LIMIT} have room."
    began = time.monotonic()
    try:
        producer.send("topic", value=b"")
    except KafkaTimeoutError:
        pass
    else:
        return f"{LIMIT} have room and no answer has come, yet one more was taken."
    if time.monotonic() > began + PATIENCE:
        return "it waits too long; half a second will do."
    if len(silent.futures) != LIMIT:
        return "a record that is refused must not be sent."
    silent.futures[0].success("a receipt")
    try:
        producer.send("topic", value=b"")
    except KafkaTimeoutError:
        return "an answer came, and its room was not given back."
    return ""


def together(records: float) -> str:
    """Of the records that go in one batch: 1,000 bytes each, one a millisecond, a linger of 50 ms,
    room for 16,384 bytes."""
    if 16 <= records < 17:
        return ""
    if 45 <= records <= 55:
        return "so many come within the linger, but is there room for them?"
    return "see how many come within the linger, and how many have room."
