"""The process that opens a database of somebody else's: see rows.py. Needs Python's library alone.

Its argument is the order, as JSON; it prints the rows, or the error in a sentence.
"""

import contextlib
import json
import resource
import sqlite3
import sys

SECONDS, BYTES, WRITTEN = 5, 1_000_000_000, 4_000_000
STEPS, EVERY = 2_000_000, 1_000  # of SQLite's machine
LONGEST_VALUE, LONGEST_TEXT = 100_000, 60
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}


def limited() -> None:
    """Bound what this process may take."""
    bounds = {"RLIMIT_CPU": SECONDS, "RLIMIT_AS": BYTES, "RLIMIT_FSIZE": WRITTEN, "RLIMIT_CORE": 0}
    for name, most in bounds.items():
        with contextlib.suppress(ValueError, OSError):  # macOS does not know all of them
            resource.setrlimit(getattr(resource, name), (most, most))


def opened(file: str) -> sqlite3.Connection:
    """The copy; what SQLite could evaluate beside tables is off."""
    db = sqlite3.connect(f"file:{file}?mode=rw", uri=True, isolation_level=None)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    db.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 20)
    for setting in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON", "mmap_size=0"):
        db.execute(f"PRAGMA {setting}").fetchall()
    db.set_authorizer(
        lambda what, first, *_: (
            sqlite3.SQLITE_OK
            if what in ALLOWED or (what == sqlite3.SQLITE_PRAGMA and first == "table_xinfo")
            else sqlite3.SQLITE_DENY
        )
    )
    steps = iter(range(STEPS // EVERY))
    db.set_progress_handler(lambda: int(next(steps, None) is None), EVERY)
    db.text_factory = lambda data: data[: 4 * LONGEST_TEXT].decode(errors="replace")
    return db


def rows(db: sqlite3.Connection, table: str, columns: list[str], most: int) -> list[list[object]]:
    """The columns of a table; a ValueError where it is none."""
    known = db.execute("SELECT type, name, sql FROM sqlite_master").fetchmany(1_000)
    kinds = {str(name).lower(): (kind, str(sql).split()[:2]) for kind, name, sql in known if name}
    kind, begins = kinds.get(table.lower(), ("", []))
    if kind != "table" or [word.upper() for word in begins] != ["CREATE", "TABLE"]:
        raise ValueError(f"it has no table {table}")
    kept = {row[1] for row in db.execute(f'PRAGMA table_xinfo("{table}")') if not row[6]}
    if lacking := [column for column in columns if column not in kept]:
        raise ValueError(f"{table} has no column {lacking[0]} that is stored")
    # With the table in front, or SQLite takes the name of a column that is not there for a text.
    wanted = ", ".join(f'"{table}"."{column}"' for column in columns)
    found = db.execute(f'SELECT {wanted} FROM "{table}"').fetchmany(most + 1)
    if len(found) > most:
        raise ValueError(f"{table} has more than {most} rows")
    return [[plain(value) for value in row] for row in found]


def plain(value: object) -> object:
    """What goes on: a whole number that JSON carries, or a short text."""
    if isinstance(value, int) and abs(value) < 10**15:
        return value
    return value[:LONGEST_TEXT] if isinstance(value, str) else None


def main() -> None:
    order = json.loads(sys.argv[1])
    limited()
    try:
        db = opened(order["file"])
        found = {t: rows(db, t, columns, order["most"]) for t, columns in order["tables"].items()}
        said: dict[str, object] = {"rows": found}
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, OverflowError) as error:
        said = {"error": str(error)[:200] or type(error).__name__}
    print(json.dumps(said))


if __name__ == "__main__":
    main()
