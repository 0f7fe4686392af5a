"""Watches from outside what all processes of a sandbox take together, and ends it beyond a limit.

The limits that a process has for itself (inside.py) do not add up, and some do not hold for root.
When the first process of a sandbox is killed, the system ends all others with it, so no fork can
get away.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import psutil

from grading.define.definition import Limits
from grading.judge.outcome import Outcome

EVERY = 0.1
FEW = 50
LEAST_FREE = 1_000_000_000
MEMORY = ("RssAnon", "RssShmem")


class Watch:
    """Looks at the sandbox of the process `pid` until it is gone. `stop` gets the outcome."""

    def __init__(
        self, pid: int, shared: Path, limits: Limits, stop: Callable[[Outcome, str], None]
    ) -> None:
        self._pid = pid
        self._shared = shared
        self._limits = limits
        self._stop = stop
        self._is_over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        self._is_over.set()

    def _watch(self) -> None:
        _go_first()
        space = None
        while not self._is_over.wait(EVERY):
            if space is None:
                space = _space_below(self._pid)
                continue
            if broken := self._broken(space):
                self._stop(*broken)
                return

    def _broken(self, space: str) -> tuple[Outcome, str] | None:
        limits = self._limits
        count, memory, processes = taken(space, limits.processes)
        if count > limits.processes:
            words = f"ran more than {limits.processes} processes and threads at once"
            return Outcome.PROCESS_LIMIT, words
        if memory > limits.memory and self._is_too_much(processes):
            return Outcome.OUT_OF_MEMORY, f"took more than {limits.memory / 1e9:g} GB of memory"
        if size(self._shared) > limits.output:
            return Outcome.DISK_LIMIT, "filled the folder of the kernel's sockets"
        return None

    def _is_too_much(self, processes: list[Path]) -> bool:
        """Whether it is as much as it seems: what a fork shares with its parent was counted twice.

        To measure that of many waits for all their forks, so there the machine itself is asked.
        """
        if len(processes) > FEW:
            return psutil.virtual_memory().available < LEAST_FREE
        return shared_out(processes) > self._limits.memory


def taken(space: str, enough: int) -> tuple[int, int, list[Path]]:
    """Threads and bytes of memory of all processes in a process namespace, and these.

    Looks no further when there are more than `enough`: a fork makes them faster than one reads.
    """
    count = memory = 0
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError):
            if str((entry / "ns" / "pid").readlink()) != space:
                continue
            found.append(entry)
            for line in (entry / "status").read_text().splitlines():
                name, _, value = line.partition(":")
                if name in MEMORY:
                    memory += int(value.split()[0]) * 1024
                elif name == "Threads":
                    count += int(value)
        if count > enough:
            break
    return count, memory, found


def shared_out(processes: list[Path]) -> int:
    """Bytes of memory of these processes; what a fork shares with its parent counts once."""
    total = 0
    for entry in processes:
        with contextlib.suppress(OSError):
            for line in (entry / "smaps_rollup").read_text().splitlines():
                if line.startswith(("Pss_Anon:", "Pss_Shmem:")):
                    total += int(line.split()[1]) * 1024
    return total


def size(folder: Path) -> int:
    """Bytes of the files in a folder, which may change meanwhile."""
    total = 0
    for top, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += Path(top, name).lstat().st_blocks * 512
    return total


def _space_below(pid: int) -> str | None:
    """The process namespace that the child of a process made; None before it is there."""
    with contextlib.suppress(OSError):
        own = Path(f"/proc/{pid}/ns/pid").readlink()
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found = Path(f"/proc/{child}/ns/pid").readlink()
            if found != own:
                return str(found)
    return None


def _go_first() -> None:
    """Run before others where the system lets us, as it lets root, whom no limit holds."""
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
