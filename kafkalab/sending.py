"""A producer that waits where Java's waits, and goes on where Java's goes on.

The sender of kafka-python 3.0.12, the thread behind a producer, differs from Java's in five ways
that brokers which stop, freeze and die bring to light. Two make it go round thousands of times a
second: it takes a core, and no other thread of the notebook gets on. Three end it for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConnectionError, RequestTimedOutError
from kafka.producer.transaction_manager import (
    InitProducerIdHandler,
    TransactionState,
    TxnRequestHandler,
)

if TYPE_CHECKING:
    from kafka import KafkaProducer
    from kafka.future import Future


def like_java(producer: KafkaProducer) -> None:
    """Arrange it for this producer, before its first record."""
    _ask_once(producer)
    _wait_for_connections(producer)
    _hear_of_changes(producer)
    if producer._transaction_manager is not None:
        _get_a_new_producer_id(producer)


def _ask_once(producer: KafkaProducer) -> None:
    """While a partition has no leader, each round of the sender asks for new metadata, and the
    question ends the wait of the next round. A question that is open is not asked again."""
    metadata = producer._metadata
    ask = metadata.request_update

    def request_update() -> Future:
        with metadata._lock:
            open_question = metadata._future
            if metadata.need_update and open_question and not open_question.is_done:
                return open_question
        return ask()

    metadata.request_update = request_update


def _wait_for_connections(producer: KafkaProducer) -> None:
    """A connection that is being made has no delay, so the sender looks again at once, as long as a
    frozen broker does not answer; and seconds of delay are taken for milliseconds."""
    client = producer._sender._client
    connections = client._manager._conns

    def connection_delay(broker: int) -> float:
        if broker in connections:  # its end wakes the sender
            return float("inf")
        return client._manager.connection_delay(broker) * 1_000

    client.connection_delay = connection_delay


def _hear_of_changes(producer: KafkaProducer) -> None:
    """An error in a round, as where the metadata names a leader that is not among the brokers,
    comes before the round listens to the network. So the next round has the same metadata and the
    same error, and so have all that follow, unless somebody asks again and listens.

    Such metadata comes where a broker is given up: brokers look up leaders first, live brokers
    afterwards (KafkaApis.handleTopicMetadataRequest).
    """
    sender, metadata = producer._sender, producer._metadata
    go_round = sender.run_once

    def run_once() -> None:
        try:
            go_round()
        except Exception:
            metadata.request_update()
            sender._client.poll(timeout_ms=sender.config["retry_backoff_ms"])
            raise  # to the sender's log

    sender.run_once = run_once


def _get_a_new_producer_id(producer: KafkaProducer) -> None:
    """Where records have expired that may have been stored, an idempotent producer gives up its
    producer id, and would wait for a new one for ever, because it does not ask for it."""
    manager = producer._transaction_manager
    give_up = manager.reset_producer_id

    def reset_producer_id() -> None:
        with manager._lock:
            give_up()
            manager._current_state = TransactionState.UNINITIALIZED

    manager.reset_producer_id = reset_producer_id


def _ask_again(handler: InitProducerIdHandler, number: int, answer: Any) -> None:
    """A broker that freezes before it has answered the question for a producer id would make every
    later send fail. It is taken for a lost connection, after which another broker is asked.

    Not with transactions: what they ask has no time limit but this one.
    """
    if isinstance(answer, RequestTimedOutError) and handler.transactional_id is None:
        answer = KafkaConnectionError(str(answer))
    TxnRequestHandler.on_complete(handler, number, answer)


# For all producers, because one asks while it is being made.
InitProducerIdHandler.on_complete = _ask_again
