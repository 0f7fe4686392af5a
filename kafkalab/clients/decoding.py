"""A value that its deserializer cannot read, told in each poll and not in one only.

kafka-python 3.0.12 reads fetched records through a generator, which ends with the first error. The
poll that meets the error raises it; the next one finds the generator ended, takes that for "not
yet", and asks again without a pause and without an end, whatever its timeout. Java's consumer stays
before the record and raises in each poll.
"""

from __future__ import annotations

import functools
from typing import Any

from kafka.consumer.fetcher import Fetcher


def tell_each_time() -> None:
    """What was fetched of a partition raises the same error until somebody seeks elsewhere.

    A place behind the record is no help where both are in one batch: that is decoded from its
    beginning. Bytes that are decoded in the loop have none of this.
    """
    take = Fetcher.PartitionRecords.take

    @functools.wraps(take)
    def take_or_raise(self: Any, n: int | None = None) -> Any:
        told: Exception | None = getattr(self, "_told", None)
        if told is not None and self:
            raise told.with_traceback(None)
        try:
            return take(self, n)
        except Exception as error:
            self._told = error
            raise

    Fetcher.PartitionRecords.take = take_or_raise
