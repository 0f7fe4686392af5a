"""Lesson start: what kafka-python logs, and the addresses that a broker names."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from kafka.protocol.admin import CreateTopicsRequest

from kafkalab.cluster import wire
from kafkalab.wait import wait_until


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line, unless it is there already: a client says the same many times."""
        line = f"{record.levelname} {record.name}: {record.getMessage()}"
        if line not in self.lines:
            self.lines.append(line)


@contextmanager
def logged() -> Iterator[list[str]]:
    """The different warnings and errors that kafka-python logs meanwhile.

    Without this they stand on standard error, as often as they come.
    """
    logger = logging.getLogger("kafka")
    handler = _Lines()
    before = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield handler.lines
    finally:
        logger.propagate = before
        logger.removeHandler(handler)


def named_by(address: str) -> dict[int, str]:
    """Who is in the cluster, as the broker at this address tells a client: id -> address."""
    return wire.brokers(wire.metadata(address, timeout=10))


def topics_of(address: str) -> list[str]:
    """The topics that have a leader, as the broker at this address tells a client."""
    answer = wire.metadata(address, topics=None, timeout=10)
    return sorted(
        topic.name
        for topic in answer.topics
        if all(one.leader_id >= 0 for one in topic.partitions) and not topic.is_internal
    )


def make_topic(address: str, name: str) -> None:
    """A topic of one partition, made by the broker at this address, whatever address it names.

    Nothing happens where the topic is there. Returns when the topic has a leader.
    """
    new = CreateTopicsRequest.CreatableTopic(
        name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    wire.ask(address, CreateTopicsRequest(topics=[new], timeout_ms=10_000), timeout=15)
    wait_until(lambda: name in topics_of(address), timeout=10, what=f"the topic {name}")
