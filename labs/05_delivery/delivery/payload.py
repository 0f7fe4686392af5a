"""Payload logs: one line for each record that a program sent or processed.

A line is `topic,partition,key,value`. The value is the rest of the line and may hold commas and
quotation marks, so a line is split at its first three commas and never read as CSV.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kafkalab.errors import CourseError

ROLES = ("producer", "consumer")
LINE = re.compile(r"([^,]*),(\d+),([^,]*),(.*)", re.DOTALL)


class Entry(NamedTuple):
    topic: str
    partition: int
    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.topic},{self.partition},{self.key},{self.value}"

    @classmethod
    def of(cls, topic: str, partition: int, key: bytes | None, value: bytes | None) -> Entry:
        """A record as it is written down: a line break within it would make two lines of one."""
        key_text, text = (
            (each or b"").decode("utf-8", "backslashreplace").replace("\n", "\\n").replace("\r", "")
            for each in (key, value)
        )
        return cls(topic, partition, key_text, text)

    @classmethod
    def parse(cls, line: str) -> Entry:
        match = LINE.fullmatch(line)
        if match is None:
            raise CourseError(
                f"This is no line of a payload log: {line[:80]!r}.",
                "Such a line is topic,partition,key,value.",
            )
        topic, partition, key, value = match.groups()
        return cls(topic, int(partition), key, value)


class PayloadLog:
    """A log that is being written.

    Each line is handed to the system at once, so the log is complete also after a kill.
    """

    def __init__(self, path: Path, truncate: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        # Buffering by line: a write call for each, and none is cut in two.
        self._file = path.open(
            "w" if truncate else "a", buffering=1, encoding="utf-8", newline="\n"
        )

    def write(self, entry: Entry) -> None:
        self._file.write(f"{entry}\n")


def path_of(directory: Path | str, role: str, local_id: int = -1, kind: str = "payload") -> Path:
    """Where a program logs; kind `failed` is the producer's log of failed sends."""
    suffix = "" if local_id < 0 else f"-{local_id}"
    return Path(directory) / role / f"{kind}{suffix}.log"


def read(path: Path | str) -> list[Entry]:
    """The entries of a log; none where the program has not written one."""
    path = Path(path)
    if not path.exists():
        return []
    # Not splitlines(): a value may hold one of the rarer characters that Unicode calls a break.
    return [Entry.parse(line) for line in path.read_text("utf-8").split("\n") if line]


def logs(directory: Path | str, role: str, kind: str = "payload") -> list[Path]:
    """The logs of a role with and without suffix, and what they were collected into."""
    directory = Path(directory)
    collected = directory / (f"{role}.log" if kind == "payload" else f"{role}-{kind}.log")
    return [
        *sorted((directory / role).glob(f"{kind}.log")),
        *sorted((directory / role).glob(f"{kind}-*.log")),
        *([collected] if collected.exists() else []),
    ]


def collect(directory: Path | str, overwrite: bool = False) -> dict[Path, list[Path]]:
    """Merge the logs of each role into one sorted file, and remove them; what went where.

    Sorted as text, line by line: 9984, 999, 9995. Both files are, so they can be compared.
    """
    directory = Path(directory)
    taken: dict[Path, list[Path]] = {}
    for role, kind in [(role, "payload") for role in ROLES] + [("producer", "failed")]:
        target = directory / (f"{role}.log" if kind == "payload" else f"{role}-{kind}.log")
        if found := [path for path in logs(directory, role, kind) if path != target]:
            taken[target] = found
    if there := [target for target in taken if target.exists() and not overwrite]:
        raise CourseError(
            f"There are results of an earlier run: {', '.join(map(str, there))}.",
            "Merging again would replace them.",
            "Say that they may go: collect(directory, overwrite=True), or --overwrite.",
        )
    for target, sources in taken.items():
        lines = sorted(line for path in sources for line in _lines(path))
        target.write_bytes(b"".join(lines))
        for path in sources:
            path.unlink()
    return taken


def remove(directory: Path | str) -> list[Path]:
    """Delete the logs of both roles, merged ones included; which ones. First step of each task."""
    found = [
        path
        for role in ROLES
        for kind in ("payload", "failed")
        for path in logs(directory, role, kind)
    ]
    for path in found:
        path.unlink()
    return found


def write(path: Path | str, entries: Iterable[Entry]) -> None:
    """A log with these entries, in place of what was there."""
    log = PayloadLog(Path(path), truncate=True)
    for entry in entries:
        log.write(entry)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            # A program that was killed in the middle of a line leaves it without its end.
            yield line if line.endswith(b"\n") else line + b"\n"
