"""The folder of a server: its data, and the socket at which it listens."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from kafkalab import places
from kafkalab.errors import CourseError
from kafkalab.postgres.account import Account

PREFIX, LIFE = "kafkalab-postgres-", "alive"
# macOS takes 103 bytes for the path of a socket, Linux four more.
LONGEST = 103 - len("/.s.PGSQL.5432")
UNIQUE = 8  # letters that `mkdtemp` adds to the prefix


def make(account: Account) -> tuple[Path, TextIO]:
    """A fresh folder, and a file in it that is locked as long as a process holds it open."""
    _forget_the_dead()
    for place in _places():
        if _takes_a_socket(place) and account.may_enter(place):
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
            life = (folder / LIFE).open("w")
            fcntl.flock(life, fcntl.LOCK_EX)
            account.own(folder)
            return folder, life
    raise CourseError(
        "There is no folder for the data of PostgreSQL.",
        f"Its server has to enter it, also where root runs the course, and its path may have "
        f"{LONGEST} bytes and no comma. These do not do: {', '.join(map(str, _places()))}.",
        "Let TMPDIR name a folder with a short path, open to all.",
    )


def _places() -> list[Path]:
    """Where it may lie: with the clusters, else among the temporary files."""
    return [places.state(), Path(tempfile.gettempdir()), Path("/tmp")]


def _takes_a_socket(place: Path) -> bool:
    path = f"{place}/{PREFIX}{'x' * UNIQUE}"
    return len(path.encode()) <= LONGEST and "," not in path  # stands between two folders


def _left_behind() -> Iterator[Path]:
    for place in _places():
        yield from place.glob(f"{PREFIX}*/{LIFE}")


def _forget_the_dead() -> None:
    """Delete the folders whose keeper was killed.

    A server that lives on without its keeper ends within a minute when its data is gone.
    """
    for life in _left_behind():
        with contextlib.suppress(OSError), life.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(life.parent)
