"""No program begins in a container at the moment in which the container is frozen.

Docker starts a program there in several steps. Frozen between two of them, neither the program nor
the container answers again: `docker unpause`, `rm` and `inspect` wait for ever (seen with Docker
20.10 on a loaded machine: a `runc` that was frozen before it had become the program). Whoever
freezes waits until the programs that were begun are through, and keeps others from beginning.
Locks of files, because a notebook, a fault beside it and a check are processes of their own.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

from kafkalab.wait import WaitTimeout, wait_until

# A console tool may be there for longer. It is through its beginning by then.
LONGEST_BEGINNING = 10.0


@contextlib.contextmanager
def program_in(folder: Path, service: str) -> Iterator[None]:
    """While a program runs in the container of a service; folder: the slot's."""
    with _file(folder, service, "inside") as inside:
        with _file(folder, service, "door") as door:
            fcntl.flock(door, fcntl.LOCK_SH)
            fcntl.flock(inside, fcntl.LOCK_SH)
        yield


@contextlib.contextmanager
def nothing_begins_in(folder: Path, service: str) -> Iterator[None]:
    """While the container of a service is frozen: waits up to 10 s for programs that are there."""
    with _file(folder, service, "door") as door, _file(folder, service, "inside") as inside:
        fcntl.flock(door, fcntl.LOCK_EX)
        with contextlib.suppress(WaitTimeout):
            wait_until(
                lambda: _taken(inside),
                timeout=LONGEST_BEGINNING,
                what=f"the programs in {service} to end",
            )
        yield


def _taken(file: TextIOWrapper) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _file(folder: Path, service: str, name: str) -> TextIOWrapper:
    """Its lock falls when it is closed, or with its process."""
    return (folder / f"{service}.{name}").open("a")
