"""What the programs print, and how they pause."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

# How many warnings of a kind are printed in full. A producer that waits for a broker repeats its
# warning ten times a second.
SHOWN = 3


class Say:
    """Prints a line with the seconds since start in front. Any thread may call it."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, text: str) -> None:
        with self._lock:
            sys.stdout.write(f"{time.monotonic() - self._start:9.3f}  {text}\n")
            sys.stdout.flush()

    def settings(self, title: str, settings: Mapping[str, Any]) -> None:
        """A client's settings that are values; the others are functions and classes."""
        self(f"{title}:")
        for name, value in sorted(settings.items()):
            if isinstance(value, type) or callable(value):
                value = getattr(value, "__name__", type(value).__name__)
            elif isinstance(value, (list, tuple)):
                value = ", ".join(getattr(each, "__name__", str(each)) for each in value)
            self(f"  {name} = {value}")


class Warnings(logging.Handler):
    """Prints what kafka-python warns of: the first few of each kind, then their number."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.WARNING)
        self._say = say
        self._seen: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        self._seen[record.msg] += 1
        if self._seen[record.msg] <= SHOWN:
            self._say(f"warning from {record.name}: {' '.join(record.getMessage().split())}")

    def total(self) -> None:
        for kind, count in self._seen.items():
            if count > SHOWN:
                self._say(f"{count} warnings of this kind: {' '.join(kind.split())}")

    @classmethod
    def listen(cls, say: Say) -> Warnings:
        handler, logger = cls(say), logging.getLogger("kafka")
        logger.addHandler(handler)
        logger.setLevel(logging.WARNING)
        logger.propagate = False
        return handler


def pause(milliseconds: float) -> None:
    """Stand still on purpose: what a slow program does between two steps. Nothing is awaited."""
    if milliseconds:
        threading.Event().wait(milliseconds / 1000)
