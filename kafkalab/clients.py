"""kafka-python's clients with the deadlines of a lesson.

What comes back is kafka-python's own object. Three things are arranged around it. Its waits end
within seconds, so that a mistake is seen and not sat out. A client opened again under the same
`client_id` closes the one before, so a cell that is run again leaves no member behind that keeps
its partitions. And all of them are closed when the kernel ends, so that a group notices.
"""

from __future__ import annotations

import atexit
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.errors import KafkaError

from kafkalab.cluster import wire
from kafkalab.wait import WaitTimeout

if TYPE_CHECKING:
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
    from kafka.consumer.fetcher import ConsumerRecord

    from kafkalab.cluster.cluster import Cluster

Client = TypeVar("Client")

# Seconds until a wrong address is called one.
PATIENCE = 5.0
COMMON = {
    "bootstrap_timeout_ms": 5_000,
    "request_timeout_ms": 5_000,
    "reconnect_backoff_max_ms": 1_000,
}
PRODUCER = {"max_block_ms": 5_000, "delivery_timeout_ms": 10_000}
CONSUMER = {
    "session_timeout_ms": 6_000,
    "heartbeat_interval_ms": 1_000,
    "max_poll_interval_ms": 30_000,
}

# kafka-python reports each lost connection as an error on stderr. In these lessons connections are
# lost on purpose; whoever wants the lines raises the level of this logger.
logging.getLogger("kafka").setLevel(logging.CRITICAL)

_OPEN: dict[tuple[str, str], Any] = {}
_ADDRESSES: dict[tuple[str, str], set[str]] = {}


def producer(cluster: Cluster | str, client_id: str = "producer", **settings: Any) -> KafkaProducer:
    """A KafkaProducer; `settings` are its own and go before the lesson's."""
    from kafka import KafkaProducer

    from kafkalab import sending

    opened = _open(KafkaProducer, cluster, client_id, {**PRODUCER, **settings})
    sending.like_java(opened)
    return opened


def consumer(
    cluster: Cluster | str, *topics: str, client_id: str = "consumer", **settings: Any
) -> KafkaConsumer:
    """A KafkaConsumer of these topics; `settings` are its own and go before the lesson's."""
    from kafka import KafkaConsumer

    from kafkalab import joining

    opened = _open(KafkaConsumer, cluster, client_id, {**CONSUMER, **settings}, topics)
    joining.finish_what_was_begun(opened)
    return opened


def admin(cluster: Cluster | str, client_id: str = "admin", **settings: Any) -> KafkaAdminClient:
    """A KafkaAdminClient."""
    from kafka import KafkaAdminClient

    from kafkalab import routing

    opened = _open(KafkaAdminClient, cluster, client_id, settings)
    routing.ask_whoever_is_there(opened)
    return opened


def records_until_end(consumer: KafkaConsumer, timeout: float = 10) -> Iterator[ConsumerRecord]:
    """The records between the consumer's positions and the ends of its partitions as of now.

    A consumer of a group first waits until it has partitions. Records that arrive later are left
    for the next call. No end within `timeout` seconds is an error that says what is missing.
    """
    deadline = time.monotonic() + timeout
    waiting = []
    if not consumer.assignment():
        waiting = _first_records(consumer, deadline)
    partitions = consumer.assignment()
    if not partitions:
        raise WaitTimeout(
            f"Waited {timeout:g} s for partitions to read from.",
            "The consumer has none: its group may still be arranging itself, or the topic is new.",
        )
    ends = consumer.end_offsets(list(partitions))
    yield from _before(ends, waiting, consumer)
    while missing := {p: e for p, e in ends.items() if consumer.position(p) < e}:
        if time.monotonic() > deadline:
            lags = ", ".join(
                f"{p.topic} {p.partition}: at {consumer.position(p)} of {e}"
                for p, e in missing.items()
            )
            raise WaitTimeout(f"Waited {timeout:g} s for the end of the log.", lags)
        for records in consumer.poll(timeout_ms=200).values():
            yield from _before(ends, records, consumer)


def _first_records(consumer: KafkaConsumer, deadline: float) -> list[ConsumerRecord]:
    """Poll until there is an assignment; the poll that brings it may bring records too."""
    while time.monotonic() < deadline:
        polled = consumer.poll(timeout_ms=200)
        if consumer.assignment():
            return [record for records in polled.values() for record in records]
    return []


def _before(
    ends: Mapping[Any, int], records: Iterable[ConsumerRecord], consumer: KafkaConsumer
) -> list[ConsumerRecord]:
    """The records before the ends; the consumer goes back to those that the poll brought too."""
    found, beyond = [], set()
    for record in records:
        place = _place(record)
        if record.offset < ends[place]:
            found.append(record)
        else:
            beyond.add(place)
    for place in beyond:
        consumer.seek(place, ends[place])
    return found


def _place(record: ConsumerRecord) -> Any:
    from kafka import TopicPartition

    return TopicPartition(record.topic, record.partition)


def _open(
    kind: type[Client],
    cluster: Cluster | str,
    client_id: str,
    settings: dict[str, Any],
    topics: tuple[str, ...] = (),
) -> Client:
    address = cluster if isinstance(cluster, str) else cluster.address
    key = (kind.__name__, client_id)
    _close(key)
    settings = {"client_id": client_id, **COMMON, **settings}
    if settings.get("security_protocol", "PLAINTEXT") == "PLAINTEXT":
        # Before a client exists: one that cannot reach a broker tries for long and says little.
        address = wire.answering(address, PATIENCE)
    client = kind(*topics, bootstrap_servers=address, **settings)
    _OPEN[key] = client
    _ADDRESSES[key] = set(address.split(","))
    return client


def _close(key: tuple[str, str]) -> None:
    client = _OPEN.pop(key, None)
    _ADDRESSES.pop(key, None)
    if client is None:
        return
    try:
        if key[0] == "KafkaProducer":
            client.close(timeout=1)
        elif key[0] == "KafkaConsumer":
            client.close(timeout_ms=1_000)
        else:
            client.close()
    except KafkaError:
        # With its cluster gone it cannot say good-bye, and must not keep the next from opening.
        if key[0] == "KafkaProducer":
            client._sender.force_close()


def close_all(addresses: Iterable[str] | None = None) -> None:
    """Close the clients that this module opened: all, or those of a cluster."""
    wanted = None if addresses is None else set(addresses)
    for key in list(_OPEN):
        if wanted is None or wanted & _ADDRESSES[key]:
            _close(key)


atexit.register(close_all)


def _forget() -> None:
    # A forked child can use none of its parent's clients and must not close them.
    _OPEN.clear()
    _ADDRESSES.clear()


os.register_at_fork(after_in_child=_forget)
