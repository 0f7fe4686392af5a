"""The pause between two questions for metadata, as the client was told it.

kafka-python 3.0.12 makes the keeper of its metadata without `retry_backoff_ms`, so its questions
are 100 ms apart whatever that setting says. A consumer that is given one new topic after the other
waits so long for each.
"""

from __future__ import annotations

import functools
from typing import Any

from kafka.net.manager import KafkaConnectionManager


def pause_as_told() -> None:
    """Change KafkaConnectionManager for this process; see `MENDS` for the fault."""
    make = KafkaConnectionManager.__init__

    @functools.wraps(make)
    def __init__(self: KafkaConnectionManager, *arguments: Any, **settings: Any) -> None:
        make(self, *arguments, **settings)
        if "retry_backoff_ms" in settings:
            self.cluster.config["retry_backoff_ms"] = settings["retry_backoff_ms"]

    KafkaConnectionManager.__init__ = __init__
