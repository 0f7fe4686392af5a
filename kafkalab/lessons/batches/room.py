"""A bound around a producer, but for the line that makes it one."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka import KafkaProducer
    from kafka.producer.future import FutureRecordMetadata


class WithRoom:
    """Sends with another producer. `room` counts the free places: who sends takes one before, and
    the answer to the record gives it back, or the error that it never left with."""

    def __init__(self, producer: KafkaProducer, limit: int) -> None:
        self.producer = producer
        self.room = threading.Semaphore(limit)

    def send(self, topic: str, **record: Any) -> FutureRecordMetadata:
        """As KafkaProducer's."""
        try:
            future = self.producer.send(topic, **record)
        except Exception:
            self.room.release()  # nothing is on its way
            raise
        return future.add_both(lambda _: self.room.release())
