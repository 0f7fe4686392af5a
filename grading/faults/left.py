"""A SQLite file that a student's program writes, seen from outside of the sandbox.

It is reached through the folder in which a process of the student's runs, is never followed as a
link, and is read as `grading/faults/rows.py` does. The locks are those of SQLite with a rollback
journal: a writer that is about to commit holds PENDING and waits until no reader holds SHARED. So
whoever holds SHARED keeps every commit back, and sees who waits; the file itself is not touched.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from grading.faults import rows
from grading.judge.checks import Unseen

PENDING, SHARED, SHARED_BYTES = 0x4000_0000, 0x4000_0002, 510
LARGEST = 8_000_000
A_MOMENT = 5.0  # seconds that a commit of the student's may take
JOURNAL, WAL = "-journal", "-wal"

IS_LINUX = sys.platform == "linux"
if IS_LINUX:
    # kind, whence, start, length, process. Those that belong to the open file, so that nothing
    # else of this process that opens and closes the file gives them up.
    LOCK = struct.Struct("hhqqi4x")
    SET, ASK = fcntl.F_OFD_SETLK, fcntl.F_OFD_GETLK
else:  # macOS: start, length, process, kind, whence
    LOCK = struct.Struct("qqihh")
    SET, ASK = fcntl.F_SETLK, fcntl.F_GETLK


class LeftFile:
    """An open file. `close` gives up what is held of it."""

    def __init__(self, name: str, folder: int, file: int) -> None:
        self.name = name
        self.holds = False
        self._folder = folder
        self._file = file

    @classmethod
    def find(cls, name: str, owner: int) -> LeftFile:
        """The file of this name in the folder of a process or of one below it; Unseen if none."""
        for pid in _with_those_below(owner):
            with contextlib.suppress(OSError, psutil.Error):
                folder = os.open(_folder_of(pid), os.O_RDONLY | os.O_DIRECTORY)
                try:
                    return cls(name, folder, _opened(name, folder))
                except OSError:
                    os.close(folder)
        raise Unseen(f"there is no file {name} in the folder of the notebook")

    def close(self) -> None:
        """Let it go."""
        os.close(self._file)
        os.close(self._folder)

    # --- Locks ---------------------------------------------------------------------------------

    @property
    def waiting(self) -> int | None:
        """The process that waits to commit, or is at it; None where none does."""
        asked = _lock(fcntl.F_RDLCK, PENDING, 1)
        kind, pid = _answer(fcntl.fcntl(self._file, ASK, asked))
        return None if kind == fcntl.F_UNLCK else pid

    def hold(self, within: float = A_MOMENT) -> None:
        """Keep every commit back from here on. Unseen where one does not end.

        It looks without a pause: a program that commits twice in a row leaves no time for one.
        """
        deadline = time.monotonic() + within
        while not self._set(fcntl.F_RDLCK):
            if time.monotonic() > deadline:
                raise Unseen(f"a commit to {self.name} does not end")
            os.sched_yield()
        self.holds = True

    def release(self) -> None:
        """Let commits pass."""
        self._set(fcntl.F_UNLCK)
        self.holds = False

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Callable[[], bool]]:
        """Whether the transaction that waits to commit is over, while commits are kept back.

        So it was rolled back. Who only tries again keeps its lock; by the time we look, another
        transaction may wait, with a journal of its own beside the file. That the first journal is
        gone says nothing: anybody can delete a file. (And write one: who puts another there by
        hand is taken at its word.)
        """
        first = self._number_of_journal()

        def is_over() -> bool:
            if self.waiting is None:
                return True
            now = self._number_of_journal()
            return bool(first and now and now != first)

        yield is_over

    def _number_of_journal(self) -> bytes:
        """What SQLite has drawn for the transaction that is open; empty where there is nothing.

        It stands in the head of the journal, in front of the page count.
        """
        with contextlib.suppress(OSError):
            journal = _opened(self.name + JOURNAL, self._folder)
            try:
                return os.pread(journal, 4, 12)
            finally:
                os.close(journal)
        return b""

    # --- Content -------------------------------------------------------------------------------

    @property
    def commits(self) -> int:
        """A number that each commit changes: SQLite counts them in the head of the file."""
        head = os.pread(self._file, 28, 0)
        return int.from_bytes(head[24:28], "big")

    def rows(self, tables: Mapping[str, Sequence[str]]) -> dict[str, list[list[int | str | None]]]:
        """The rows of these tables, of each row these columns. Unseen where there are none such."""
        held = self.holds
        if not held:
            self.hold()
        try:
            content, log = _content(self._file), self._write_ahead_log()
        finally:
            if not held:
                self.release()
        return rows.read(self.name, content, log, tables)

    def _write_ahead_log(self) -> bytes:
        try:
            log = _opened(self.name + WAL, self._folder)
        except OSError:
            return b""
        try:
            return _content(log)
        finally:
            os.close(log)

    def _set(self, kind: int) -> bool:
        try:
            fcntl.fcntl(self._file, SET, _lock(kind, SHARED, SHARED_BYTES))
        except (BlockingIOError, PermissionError):
            return False
        return True


def _with_those_below(owner: int) -> Iterator[int]:
    """The process and those that it has started, the oldest first."""
    yield owner
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(owner).children(recursive=True):
            yield process.pid


def _folder_of(pid: int) -> str:
    """A way into the folder of a process that also leads into a sandbox, where there is one."""
    inside = Path(f"/proc/{pid}/cwd")
    return str(inside) if inside.exists() else psutil.Process(pid).cwd()


def _opened(name: str, folder: int) -> int:
    """A file for reading; no link, no pipe, nothing that could let the grader wait."""
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(f"{name} is no file")
    return file


def _content(file: int) -> bytes:
    size = os.fstat(file).st_size
    if size > LARGEST:
        raise Unseen(f"the database has {size:,} bytes; {LARGEST:,} are allowed")
    parts, place = [], 0
    while place < size and (part := os.pread(file, size - place, place)):
        parts.append(part)
        place += len(part)
    return b"".join(parts)


def _lock(kind: int, start: int, length: int) -> bytes:
    if IS_LINUX:
        return LOCK.pack(kind, os.SEEK_SET, start, length, 0)
    return LOCK.pack(start, length, 0, kind, os.SEEK_SET)


def _answer(lock: bytes) -> tuple[int, int]:
    """The kind and the process."""
    fields = LOCK.unpack(lock)
    return (fields[0], fields[4]) if IS_LINUX else (fields[3], fields[2])
