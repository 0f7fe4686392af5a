"""Which tests share a worker, in what order they start, and which of them run alone.

Two workers share a machine: clusters are safe side by side by their slots. Tests of one file share
what their file starts, so they stay on one worker; a lesson or a lab is a unit of its own. Tests
that compare times (marked `alone`) run while the other worker rests.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

# Long units first: what is left at the end, while one worker has nothing to do, is short.
DOCKER, CONTENT, HEAVY, ALONE, QUICK = range(5)
NEEDS = ("cluster", "spark", "docker", "browser", "slow")


class Units(LoadScopeScheduling):
    """Hands a worker one unit after the other, in the order of the run.

    By the name of a test, because that is all that xdist hands over: its own groups, which it
    writes into the names, have no effect with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


def unit(nodeid: str) -> str:
    """A lesson or a lab is one; else a file. All that is done with Docker is one: two clusters in
    containers at a time are more than two cores bear.
    """
    file = nodeid.partition("::")[0]
    if "docker" in nodeid or file.endswith("test_compose_file.py"):
        return "docker"
    return nodeid if file.startswith("tests/content/") else file


def arrange(items: list[pytest.Item]) -> None:
    """Put the long ones first."""
    items.sort(key=_place)  # stable: tests of a file keep their order


def _place(item: pytest.Item) -> int:
    if item.get_closest_marker("alone"):
        return ALONE
    if item.get_closest_marker("content"):
        return CONTENT
    if item.get_closest_marker("docker"):
        return DOCKER
    return HEAVY if any(item.get_closest_marker(name) for name in NEEDS) else QUICK


class Turns:
    """A lock that tests share, and that those which run alone have for themselves.

    Who waits to be alone holds the gate, through which everybody else has to pass: otherwise the
    other workers would hand the lock to one another for ever.
    """

    def __init__(self, folder: Path) -> None:
        """folder: the same one for all workers of a run."""
        self._lock, self._gate = (
            os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT) for name in ("turn", "gate")
        )
        self._alone = False

    @contextmanager
    def turn(self, item: pytest.Item, after: pytest.Item | None) -> Iterator[None]:
        """While this test runs; tests that run alone and follow one another share one turn."""
        if item.get_closest_marker("alone"):
            if not self._alone:
                fcntl.flock(self._gate, fcntl.LOCK_EX)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
                self._alone = True
        else:
            fcntl.flock(self._gate, fcntl.LOCK_EX)
            fcntl.flock(self._gate, fcntl.LOCK_UN)
            fcntl.flock(self._lock, fcntl.LOCK_SH)
        try:
            yield
        finally:
            if after is None or not (self._alone and after.get_closest_marker("alone")):
                self._alone = False
                fcntl.flock(self._lock, fcntl.LOCK_UN)
                fcntl.flock(self._gate, fcntl.LOCK_UN)
