"""What a member's own client logs when it joins, and what the lines mean."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from textwrap import shorten

from kafkalab import tables

LOGGER = "kafka.coordinator"  # of kafka-python
MEANING = {
    "(Re-)joining group": "asks to be let in",
    "Successfully joined group": "is in",
    "Elected group leader": "is to deal, for all members",
    "Setting newly assigned partitions": "has these partitions: ",
    "Sending heartbeat": "is alive",
}
JOINS = "(Re-)joining group"
LEADER = "Elected group leader"
COLUMNS = ("level", "line", "the member")


@dataclass
class Logged:
    """The lines of the newest join, the first of each kind: kind -> its level and itself."""

    lines: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether a line of each kind has come."""
        return len(self.lines) == len(MEANING)

    def _rows(self) -> list[tuple[str, str, str]]:
        return [
            (level, shorten(line, 76, placeholder=" …"), f"{MEANING[kind]}{_numbers(line)}")
            for kind, (level, line) in self.lines.items()
        ]

    def __repr__(self) -> str:
        return tables.text(COLUMNS, self._rows())

    def _repr_html_(self) -> str:
        return tables.html("", COLUMNS, self._rows())


def _numbers(line: str) -> str:
    """The partitions that a line names, which it does at length."""
    return ", ".join(sorted(re.findall(r"partition=(\d+)", line), key=int))


@contextmanager
def logged(group: str) -> Iterator[Logged]:
    """Keep what the members of a group that live in this notebook log, down to DEBUG.

    kafka-python's line about the leader does not name a group. A client that does not know the
    topic's partitions yet is given none at first, and joins again: that join does not count.
    """
    heard = Logged()

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            line = record.getMessage()
            if line.startswith(f"{JOINS} {group}"):
                heard.lines.clear()
            for kind in MEANING:
                if line.startswith(f"{kind} set()"):
                    continue
                if line.startswith(kind) and (kind == LEADER or f"group {group}" in line):
                    heard.lines.setdefault(kind, (record.levelname, line))

    keeping, logger = Keeping(), logging.getLogger(LOGGER)
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.DEBUG)
    logger.propagate = False  # the lines are for the table, not for the cell's output
    logger.addHandler(keeping)
    try:
        yield heard
    finally:
        logger.removeHandler(keeping)
        logger.setLevel(level)
        logger.propagate = propagate
