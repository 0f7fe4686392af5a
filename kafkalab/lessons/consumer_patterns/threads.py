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
    """`run(*arguments, stop)` in so many threads; at the end `stop` is set, and they have to end.

    What went wrong in a thread is raised at the end of the block, unless the block itself raises.
    """
    stop = threading.Event()
    failed: list[BaseException] = []

    def run_and_tell() -> None:
        try:
            run(*arguments, stop)
        except BaseException as error:  # the thread that waits for this one raises it
            failed.append(error)

    running = [threading.Thread(target=run_and_tell, daemon=True) for _ in range(number)]
    for thread in running:
        thread.start()
    try:
        yield stop
    finally:
        stop.set()
        for thread in running:
            thread.join(GRACE)
    if failed:
        raise failed[0]
    late = sum(thread.is_alive() for thread in running)
    if late:
        raise TimeoutError(f"{late} of {number} threads still run {GRACE} s after they were told")
