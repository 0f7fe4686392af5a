"""A producer that asks once for new metadata, and then waits for the answer.

While a partition it has sent to has no leader, the sender of kafka-python 3.0.12 asks for new
metadata in each round of its loop, and the question itself ends the wait of the next round. So it
goes round thousands of times a second, takes a core, and lets no other thread of the notebook get
on. Java's sender asks too, and then waits for `retry.backoff.ms`; so does this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka import KafkaProducer
    from kafka.future import Future


def ask_once(producer: KafkaProducer) -> None:
    """Arrange it for this producer; a question that is open is not asked again."""
    metadata = producer._metadata
    ask = metadata.request_update

    def request_update() -> Future:
        with metadata._lock:
            open_question = metadata._future
            if metadata.need_update and open_question and not open_question.is_done:
                return open_question
        return ask()

    metadata.request_update = request_update
