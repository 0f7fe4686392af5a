"""A function in several threads at once, until a block of lines is through."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# A poll or a close that is under way may need its whole time.
GRACE = 10


@contextmanager
def threads(
    number: int, run: Callable[..., object], *arguments: object
) -> Iterator[threading.Event]:
    """`run(*arguments, stop)` in so many threads; at the end `stop` is set, and all are joined."""
    stop = threading.Event()
    running = [
        threading.Thread(target=run, args=(*arguments, stop), daemon=True) for _ in range(number)
    ]
    for thread in running:
        thread.start()
    try:
        yield stop
    finally:
        stop.set()
        for thread in running:
            thread.join(GRACE)
