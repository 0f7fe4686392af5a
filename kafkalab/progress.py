"""Tell the person who waits how far something is.

On a terminal it is one line that is written over; elsewhere (a log, a notebook, CI) a line every
ten seconds. What takes less says nothing. Standard library alone: the installation uses it.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator

EVERY = 10.0  # seconds between two lines where they cannot be written over
LIVE = 0.5  # and on a terminal


@contextlib.contextmanager
def told(text: Callable[[], str]) -> Iterator[None]:
    """As long as this lasts, say again and again what `text` says then, and for how long."""
    over, began = threading.Event(), time.monotonic()
    terminal = sys.stderr.isatty()

    def tell() -> None:
        while not over.wait(LIVE if terminal else EVERY):
            _say(f"{time.monotonic() - began:3.0f} s: {' '.join(text().split())}", terminal)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        if terminal:
            _say("", terminal)


def _say(line: str, terminal: bool) -> None:
    if terminal:
        sys.stderr.write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])
        sys.stderr.flush()
    else:
        print(line, file=sys.stderr, flush=True)
