"""Lesson start: what kafka-python logs, and the addresses that a broker names."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from kafkalab.cluster import wire


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
