"""A producer that waits where Java's waits, and goes on where Java's goes on.

The sender of kafka-python 3.0.12, the thread behind a producer, differs from Java's in six ways
that brokers which stop, freeze and die bring to light. Two make it go round thousands of times a
second: it takes a core, and no other thread of the notebook gets on. Three end it for good. One
gives records up that nothing is wrong with.
"""

from __future__ import annotations

import functools
import time
from typing import Any

from kafka.errors import (
    KafkaConnectionError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumberError,
    RequestTimedOutError,
)
from kafka.future import Future
from kafka.net.compat import KafkaNetClient
from kafka.producer.producer_batch import ProducerBatch
from kafka.producer.sender import Sender
from kafka.producer.transaction_manager import (
    InitProducerIdHandler,
    TransactionManager,
    TransactionState,
)


def ask_once() -> None:
    """While a partition has no leader, each round of the sender asks for new metadata, and the
    question ends the wait of the next round. A question that is open is not asked again."""
    make = Sender.__init__

    @functools.wraps(make)
    def __init__(self: Sender, *arguments: Any, **settings: Any) -> None:
        make(self, *arguments, **settings)
        metadata = self._metadata
        ask = metadata.request_update

        def request_update() -> Future:
            with metadata._lock:
                open_question = metadata._future
                if metadata.need_update and open_question and not open_question.is_done:
                    return open_question
            return ask()

        # Of this client only: what consumers and admin clients ask is not asked in a circle.
        metadata.request_update = request_update

    Sender.__init__ = __init__


def wait_for_connections() -> None:
    """A connection that is being made has no delay, so the sender looks again at once, as long as a
    frozen broker does not answer; and seconds of delay are taken for milliseconds."""

    def connection_delay(self: KafkaNetClient, node_id: Any) -> float:
        if node_id in self._manager._conns:  # its end wakes the sender
            return float("inf")
        return self._manager.connection_delay(node_id) * 1_000

    # The sender takes the number for milliseconds. Consumers only ask whether it is zero, and only
    # for a node without a connection.
    KafkaNetClient.connection_delay = connection_delay


def hear_of_changes() -> None:
    """An error in a round, as where the metadata names a leader that is not among the brokers,
    comes before the round listens to the network. So the next round has the same metadata and the
    same error, and so have all that follow, unless somebody asks again and listens.

    Such metadata comes where a broker is given up: brokers look up leaders first, live brokers
    afterwards (KafkaApis.handleTopicMetadataRequest).
    """
    go_round = Sender.run_once

    @functools.wraps(go_round)
    def run_once(self: Sender) -> None:
        try:
            go_round(self)
        except Exception:
            self._metadata.request_update()
            self._client.poll(timeout_ms=self.config["retry_backoff_ms"])
            raise  # to the sender's log

    Sender.run_once = run_once


HEARS_WITHIN = 5  # seconds in which a broker hears that it leads no more


def send_again_what_came_out_of_order() -> None:
    """A leader that has not heard of its successor lacks what the successor got meanwhile. It calls
    the next sequence number out of order, and has written nothing. Whoever sends to it is no
    further: metadata may come from a broker that has not heard either. Java's idempotent producer
    never gives such a batch up (TransactionManager.canRetry). Here it is sent again as it is, for
    as long as the leader may be one of before; what is refused then is missing in the log.
    """
    may_send_again = Sender._can_retry

    @functools.wraps(may_send_again)
    def _can_retry(self: Sender, batch: ProducerBatch, error_type: type[Exception]) -> bool:
        numbers = self._transaction_manager
        if (
            error_type is OutOfOrderSequenceNumberError
            and numbers
            and not numbers.is_transactional()
        ):
            first = vars(batch).setdefault("refused_since", time.monotonic())
            if time.monotonic() < first + HEARS_WITHIN:
                self._metadata.request_update()
                error_type = NotLeaderForPartitionError
        return may_send_again(self, batch, error_type)

    Sender._can_retry = _can_retry


def get_a_new_producer_id() -> None:
    """Where records have expired that may have been stored, an idempotent producer gives up its
    producer id, and would wait for a new one for ever, because it does not ask for it."""
    give_up = TransactionManager.reset_producer_id

    @functools.wraps(give_up)
    def reset_producer_id(self: TransactionManager) -> None:
        with self._lock:
            give_up(self)
            self._current_state = TransactionState.UNINITIALIZED

    TransactionManager.reset_producer_id = reset_producer_id


def ask_another_for_an_id() -> None:
    """A broker that freezes before it has answered the question for a producer id would make every
    later send fail. It is taken for a lost connection, after which another broker is asked.

    Not with transactions: what they ask has no time limit but this one.
    """
    complete = InitProducerIdHandler.on_complete

    @functools.wraps(complete)
    def on_complete(self: InitProducerIdHandler, number: int, answer: Any) -> None:
        if isinstance(answer, RequestTimedOutError) and self.transactional_id is None:
            answer = KafkaConnectionError(str(answer))
        complete(self, number, answer)

    InitProducerIdHandler.on_complete = on_complete
