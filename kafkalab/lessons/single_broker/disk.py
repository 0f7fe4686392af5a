"""How fast the disk of this machine is, in order and here and there, and how fast its memory."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence

from kafkalab import places

MEGABYTE = 1_000_000
PIECE = 4_096  # bytes, what an operating system reads at least


def speeds(megabytes: int = 64, pieces: int = 2_000) -> dict[str, float]:
    """Megabytes a second on the disk that holds the clusters of the course.

    A file is written from its beginning to its end, then read in pieces of 4 kB: in order, at
    random, and the random ones once more, when the operating system has them in memory. Before the
    first two it is told to forget the file; where it does not, what they measure is memory.
    """
    block = os.urandom(MEGABYTE)
    places.state().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=places.state()) as file:
        number = file.fileno()

        def write() -> int:
            for _ in range(megabytes):
                os.write(number, block)
            os.fsync(number)
            return megabytes * MEGABYTE

        def read(starts: Sequence[int]) -> Callable[[], int]:
            return lambda: sum(len(os.pread(number, PIECE, start)) for start in starts)

        in_order = range(0, megabytes * MEGABYTE - PIECE, PIECE)
        at_random = random.Random(1).sample(in_order, min(pieces, len(in_order)))
        found = {"written in order": _speed(write)}
        _forget(number)
        found["read in order"] = _speed(read(in_order))
        _forget(number)
        found["read at random"] = _speed(read(at_random))
        found["the same from memory"] = _speed(read(at_random))
    return found


def _speed(work: Callable[[], int]) -> float:
    """Megabytes a second of work that returns how many bytes it moved."""
    began = time.perf_counter()
    moved = work()
    return moved / MEGABYTE / (time.perf_counter() - began)


def _forget(number: int) -> None:
    """Drop what the operating system keeps of a file in memory, where it can be told to."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
