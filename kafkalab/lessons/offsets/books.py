"""Programs that charge into a SQLite file, killed ten times, and what the file says of it."""

from __future__ import annotations

import contextlib
import functools
import random
import shutil
import sqlite3
import tempfile
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkalab.lessons.offsets.runs import NOWHERE, Point, ProgramRun, end_of, run_all

if TYPE_CHECKING:
    from kafka import TopicPartition

    from kafkalab.cluster.cluster import Cluster

# The points of a program, and how often at most it passes one before it is killed there.
POINTS = {"ready": 2, "booked": 8, "placed": 2, "committed": 2}
KILLS = 10

# How a program of the page begins: its tables, with a row for its partition, and two statements.
TABLES = """\
import sqlite3
db = sqlite3.connect(file, isolation_level=None)  # a transaction lasts from BEGIN to COMMIT
db.execute("CREATE TABLE IF NOT EXISTS charges (offset, amount, by)")
db.execute("CREATE TABLE IF NOT EXISTS offsets (topic, part, next, PRIMARY KEY (topic, part))")
db.execute("INSERT OR IGNORE INTO offsets VALUES (?, ?, 0)", place)
book = "INSERT INTO charges VALUES (?, ?, ?)"
move = "UPDATE offsets SET next = ? WHERE topic = ? AND part = ?"
"""


@dataclass(frozen=True)
class Life:
    """What one run of a program left in the books."""

    number: int
    killed_at: str
    """Empty for the last one, which ended by itself."""
    charged: list[int]


class Books:
    """A SQLite file of its own in a folder that is gone with this object.

    What it says of charges it reads from a table `charges`, whose rows have an `offset` and in `by`
    the name of the program that wrote them.
    """

    def __init__(self, name: str = "books") -> None:
        folder = tempfile.mkdtemp(prefix="kafkalab-")
        weakref.finalize(self, shutil.rmtree, folder, True)
        self.file = str(Path(folder, f"{name}.sqlite"))
        self.lives: list[Life] = []

    def select(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows that the query finds."""
        with contextlib.closing(sqlite3.connect(self.file, timeout=10)) as db:
            return db.execute(query, values).fetchall()

    @property
    def times(self) -> Counter[int]:
        """How often each offset was charged."""
        return Counter(offset for (offset,) in self.select("SELECT offset FROM charges"))

    @property
    def twice(self) -> list[int]:
        """The offsets that were charged more than once."""
        return sorted(offset for offset, number in self.times.items() if number > 1)

    def never(self, end: int) -> list[int]:
        """Those below `end` that were not charged."""
        return sorted(set(range(end)) - set(self.times))


def ten_kills(seed: int) -> list[Point]:
    """Ten points and how often each is passed before the kill; each point is there, at random."""
    rng = random.Random(seed)
    points = [*POINTS, *rng.choices(list(POINTS), k=KILLS - len(POINTS))]
    rng.shuffle(points)
    return [(point, rng.randint(1, POINTS[point])) for point in points]


def survive(
    cluster: Cluster,
    place: TopicPartition,
    programs: Mapping[str, str],
    kills: Sequence[Point],
    settings: Mapping[str, Any],
    timeout: float | None = None,
) -> dict[str, Books]:
    """Run each program until it has been killed so many times and then has ended by itself.

    Each has books of its own, and is begun again at once when it is dead. `name` is the number of
    the run. A program that ends before its kill is an error.
    """
    books = {name: Books() for name in programs}
    started = []
    for name, text in programs.items():
        given = {
            "address": cluster.address,
            "place": place,
            "end": end_of(cluster, place),
            "file": books[name].file,
            "settings": dict(settings),
        }
        runs = [
            ProgramRun(text, die, given | {"name": str(number)})
            for number, die in enumerate([*kills, NOWHERE], 1)
        ]
        started.append(run_all(cluster, name, runs, timeout))
    for kept, running in zip(books.values(), started, strict=True):
        running.events()
        for number, (point, _) in enumerate([*kills, NOWHERE], 1):
            query = "SELECT offset FROM charges WHERE by = ? ORDER BY rowid"
            charged = [offset for (offset,) in kept.select(query, str(number))]
            kept.lives.append(Life(number, point, charged))
    return books


class Replay:
    """A repaired program, on a copy of the books on which somebody undid something first."""

    def __init__(
        self,
        cluster: Cluster,
        place: TopicPartition,
        text: str,
        books: Books,
        settings: Mapping[str, Any],
    ) -> None:
        self._start = functools.partial(run_all, cluster, "replay")
        self._given = {
            "address": cluster.address,
            "place": place,
            "end": end_of(cluster, place),
            "settings": dict(settings),
            "name": "replay",
        }
        self._text = text
        self._before = books
        self.books = books
        """As the last one of `problem` left them."""

    def problem(self, undo: Sequence[str]) -> str:
        """What is not right when these statements were run in one transaction and it has ended."""
        if isinstance(undo, str):
            return "write a list of statements, also where it is one."
        self.books = books = Books()
        shutil.copy(self._before.file, books.file)
        with contextlib.closing(sqlite3.connect(books.file)) as db, db:
            for statement in undo:
                db.execute(statement)
        self._start([ProgramRun(self._text, given={**self._given, "file": books.file})]).events()
        end = self._given["end"]
        old = books.select("SELECT count(*) FROM charges WHERE by <> 'replay'")[0][0]
        wrong = {"charged twice": books.twice, "never charged": books.never(end)}
        said = [f"{len(those)} payments are {how}" for how, those in wrong.items() if those]
        said += [f"{old} charges are those of before"] * bool(old)
        return ", ".join(said) + "." if said else ""


def not_these(found: Sequence[Any], wanted: Sequence[Any]) -> str:
    """What is not right yet of records that should be those, but polled once more."""
    if any(one is other for one in found for other in wanted):
        return "these are the records of before; let the consumer poll them again."
    if [one.offset for one in found] == [one.offset for one in wanted]:
        return ""
    if len(found) != len(wanted):
        return f"there are {len(found)} records, and it should be {len(wanted)}."
    return f"the first one has offset {found[0].offset}, and it should be {wanted[0].offset}."


def book_up_to(most: int, records: Sequence[Any]) -> sqlite3.Connection:
    """Book all of these in one transaction of a database that takes no amount above `most`.

    Prints why the database refuses, where it does; then none of them is in it.
    """
    db = sqlite3.connect(":memory:")
    db.execute(f"CREATE TABLE charges (offset, amount CHECK (amount <= {most:d}))")
    try:
        with db:  # one transaction
            for one in records:
                db.execute("INSERT INTO charges VALUES (?, ?)", (one.offset, int(one.value)))
    except sqlite3.IntegrityError as error:
        print(error)
    return db
