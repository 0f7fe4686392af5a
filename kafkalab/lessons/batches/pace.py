"""Records that trickle."""

from __future__ import annotations

import threading
from collections.abc import Iterator


def each_millisecond(count: int) -> Iterator[int]:
    """The numbers below `count`, about one a millisecond."""
    nobody_sets_it = threading.Event()
    for number in range(count):
        yield number
        nobody_sets_it.wait(0.001)
