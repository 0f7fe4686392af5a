"""What a paused partition still had in the consumer's memory, given out after `resume`.

kafka-python 3.0.12 keeps such records aside, and asks no broker for more while it does. It takes
them back only when no other partition's records are in hand, and it looks at that as if records
that were all given out were still there. So once another partition was read, a partition that was
paused in the middle of what was fetched stands still, until somebody seeks in it or it goes to
another member. Java's consumer gives the records out at the next poll (KAFKA-7548).
"""

from __future__ import annotations

import functools
from typing import Any

from kafka.consumer.fetcher import Fetcher


def take_up_what_was_paused() -> None:
    """Change Fetcher for this process; see `MENDS` for the fault."""
    fetched = Fetcher.fetched_records

    @functools.wraps(fetched)
    def fetched_records(self: Any, *arguments: Any, **named: Any) -> Any:
        if not self._next_partition_records:
            self._next_partition_records = None
        return fetched(self, *arguments, **named)

    Fetcher.fetched_records = fetched_records
