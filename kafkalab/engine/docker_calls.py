"""No program begins in a container at the moment in which the container is frozen.

Docker starts a program there in several steps. Frozen between two of them, neither the program nor
the container answers again: `docker unpause`, `rm` and `inspect` wait for ever (seen with Docker
20.10: a `runc` that was frozen before it had become the program). Whoever freezes waits until the
programs that were begun are through, and keeps others from beginning. Locks of files, because a
notebook, a fault beside it and a check are processes of their own; the system drops them when
their holder dies. Docker's own programs, the checks of health, know no lock and are switched off:
see `docker_override`.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

from kafkalab.errors import CourseError
from kafkalab.wait import WaitTimeout, wait_until

# A console tool may be there for longer. It is through its beginning by then.
LONGEST_BEGINNING = 10.0
# Who freezes waits as long as that, then for a call of docker that has a deadline of its own.
LONGEST_FREEZE = 60.0


@contextlib.contextmanager
def program_in(folder: Path, service: str) -> Iterator[None]:
    """While one runs in the container of a service, or copies its disk; folder: the slot's."""
    with _file(folder, service, "inside") as inside:
        with _file(folder, service, "door") as door:
            _pass(door, fcntl.LOCK_SH, service)
            fcntl.flock(inside, fcntl.LOCK_SH)
        yield


@contextlib.contextmanager
def nothing_begins_in(folder: Path, service: str) -> Iterator[None]:
    """To freeze the container of a service, or let it go on. Waits up to 10 s for who is there."""
    with _file(folder, service, "door") as door, _file(folder, service, "inside") as inside:
        _pass(door, fcntl.LOCK_EX, service)
        with contextlib.suppress(WaitTimeout):
            wait_until(
                lambda: _taken(inside, fcntl.LOCK_EX),
                timeout=LONGEST_BEGINNING,
                what=f"the programs in {service} to end",
                every=0.01,
            )
        yield


def _pass(door: TextIOWrapper, kind: int, service: str) -> None:
    wait_until(
        lambda: _taken(door, kind),
        timeout=LONGEST_FREEZE,
        what=f"another program to be done with freezing {service}, or waking it",
        seen=lambda: "it has not let go",
        every=0.01,
        mend="See who has the cluster: ./course status. To end it: ./course down --all",
    )


def _taken(file: TextIOWrapper, kind: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, kind | fcntl.LOCK_NB)
        return True
    return False


@contextlib.contextmanager
def _file(folder: Path, service: str, name: str) -> Iterator[TextIOWrapper]:
    try:
        file = (folder / f"{service}.{name}").open("a")
    except FileNotFoundError:
        raise CourseError(f"The cluster in {folder.name} has ended meanwhile.") from None
    with file:
        try:
            yield file
        finally:
            # A child made by fork meanwhile has the same lock, and would keep it.
            fcntl.flock(file, fcntl.LOCK_UN)
