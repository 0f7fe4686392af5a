"""What Java's producer calls interceptors, around kafka-python's, which has none.

An interceptor sees each record before it is made into bytes, and may change it; and it hears of the
answer, on the producer's network thread. Whatever it does wrong stops no record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from kafka import KafkaProducer
    from kafka.producer.future import FutureRecordMetadata, RecordMetadata

# What `send` takes besides the topic: value, key, headers, …
Record = dict[str, Any]


class Interceptor(Protocol):
    """What an interceptor can hear, after ProducerInterceptor of Kafka's Java client."""

    def on_send(self, record: Record) -> Record:
        """Before the record has a partition; what comes back is sent in its place."""

    def on_acknowledgement(
        self, receipt: RecordMetadata | None, error: BaseException | None
    ) -> None:
        """On the producer's network thread; one of the two is None."""


class InterceptingProducer:
    """Shows each record and each answer to the interceptors, in their order.

    `faults` holds what they raised; the next one then gets the record as it was.
    """

    def __init__(self, producer: KafkaProducer, *interceptors: Interceptor) -> None:
        self.producer, self.interceptors = producer, interceptors
        self.faults: list[Exception] = []

    def send(self, topic: str, **record: Any) -> FutureRecordMetadata:
        """As KafkaProducer's, the record as the interceptors leave it."""
        for interceptor in self.interceptors:
            try:
                record = interceptor.on_send(record)
            except Exception as fault:
                self.faults.append(fault)
        future = self.producer.send(topic, **record)
        future.add_callback(self._answer)
        future.add_errback(lambda error: self._answer(None, error))
        return future

    def flush(self, timeout: float | None = None) -> None:
        """As KafkaProducer's."""
        self.producer.flush(timeout=timeout)

    def _answer(self, receipt: RecordMetadata | None, error: BaseException | None = None) -> None:
        for interceptor in self.interceptors:
            try:
                interceptor.on_acknowledgement(receipt, error)
            except Exception as fault:
                self.faults.append(fault)
