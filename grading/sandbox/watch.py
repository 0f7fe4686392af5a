"""Watches from outside what all processes of a sandbox take together, and ends it beyond a limit.

    python -I -S watch.py PID PROCESSES MEMORY SHARED BYTES

The limits that a process has for itself (inside.py) do not add up, and some do not hold for root.
When the first process of a sandbox is killed, the system ends all others with it, so no fork can
get away. PID is what started the sandbox. What was too much is told in one line on standard
output, first the outcome. It ends with the sandbox, or when its standard input does.

A program of its own and no thread of the grader's: what forks without end takes the processors,
and a thread would wait for the lock of an interpreter that is given no time to let go of it. For
the same reason it needs nothing but Python.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import threading
from pathlib import Path

EVERY = 0.1
FEW = 50
LEAST_FREE = 1_000_000_000
MEMORY = ("RssAnon", "RssShmem")
IN_MEMORY = "tmpfs"
ESCAPED = re.compile(r"\\(\d{3})")
"""A blank in a path, as the table of mounts writes it."""


def watch(pid: int, processes: int, memory: int, shared: Path, room: int) -> str:
    """What was too much; nothing where the sandbox ended, or nobody wants to know any more."""
    _go_first()
    sandbox = os.pidfd_open(pid)
    space, scales = None, Scales(memory)
    while not select.select([sandbox, sys.stdin], [], [], EVERY)[0]:
        space = space or _space_below(pid)
        if space and (broken := _broken(space, processes, scales, shared, room)):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(sandbox, signal.SIGKILL)
            return broken
    return ""


def _broken(space: str, processes: int, scales: Scales, shared: Path, room: int) -> str:
    count, found, entries = taken(space, processes)
    if count > processes:
        return f"process_limit ran more than {processes} processes and threads at once"
    if scales.shows_too_much(found + on_disks(entries), entries):
        return (
            f"out_of_memory took more than {scales.limit / 1e9:g} GB of memory "
            "(what it writes to /tmp and its own folder lies in memory too)"
        )
    if size(shared) > room:
        return "disk_limit filled the folder of the kernel's sockets"
    return ""


class Scales:
    """Whether the memory is as much as it seems: what a fork shares with its parent counts once.

    A process that forks holds a lock meanwhile, for which who measures it waits, and it holds it
    for seconds where all the others that it made want to run. So that is done beside the watch,
    which goes on counting. Of many it would take too long: there the machine itself is asked.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._is_too_much = False
        self._at_it: threading.Thread | None = None

    def shows_too_much(self, seeming: int, entries: list[Path]) -> bool:
        """Of these processes. Tells what the last measurement found, and begins another."""
        if self._is_too_much or seeming <= self.limit:
            return self._is_too_much
        if len(entries) > FEW:
            return _available() < LEAST_FREE
        if self._at_it is None or not self._at_it.is_alive():
            self._at_it = threading.Thread(target=self._measure, args=(entries,), daemon=True)
            self._at_it.start()
        return False

    def _measure(self, entries: list[Path]) -> None:
        if shared_out(entries) + on_disks(entries) > self.limit:
            self._is_too_much = True


def taken(space: str, enough: int) -> tuple[int, int, list[Path]]:
    """Threads and bytes of memory of all processes in a process namespace, and these.

    Looks no further when there are more than `enough`: a fork makes them faster than one reads.
    Most processes of the machine are none of these, so they are told apart by a system call each
    and no object: it is done ten times a second.
    """
    count = memory = 0
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208
        if not name.isdecimal():
            continue
        try:
            if os.readlink(f"/proc/{name}/ns/pid") != space:  # noqa: PTH115
                continue
        except OSError:
            continue
        entry = Path("/proc", name)
        with contextlib.suppress(OSError):
            found.append(entry)
            for line in (entry / "status").read_text().splitlines():
                word, _, value = line.partition(":")
                if word in MEMORY:
                    memory += int(value.split()[0]) * 1024
                elif word == "Threads":
                    count += int(value)
        if count > enough:
            break
    return count, memory, found


def shared_out(entries: list[Path]) -> int:
    """Bytes of memory of these processes; what a fork shares with its parent counts once."""
    total = 0
    for entry in entries:
        with contextlib.suppress(OSError):
            for line in (entry / "smaps_rollup").read_text().splitlines():
                if line.startswith(("Pss_Anon:", "Pss_Shmem:")):
                    total += int(line.split()[1]) * 1024
    return total


def on_disks(entries: list[Path]) -> int:
    """Bytes in the disks of a sandbox, which are made of memory, as one of its processes has them.

    What of the machine itself is shown in there is not its own, and is not the whole of a disk.
    """
    for entry in entries:
        with contextlib.suppress(OSError):
            return sum(map(used, disks(entry)))
    return 0


def disks(entry: Path) -> list[Path]:
    found = {}
    for line in (entry / "mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        _, _, device, whole, place, how, *_ = before.split()
        if whole == "/" and "rw" in how.split(",") and after.split()[0] == IN_MEMORY:
            plain = ESCAPED.sub(lambda code: chr(int(code[1], 8)), place)
            found[device] = entry / "root" / plain.lstrip("/")
    return list(found.values())


def used(disk: Path) -> int:
    told = os.statvfs(disk)
    return (told.f_blocks - told.f_bfree) * told.f_frsize


def size(folder: Path) -> int:
    """Bytes of the files in a folder, which may change meanwhile."""
    total = 0
    for top, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += Path(top, name).lstat().st_blocks * 512
    return total


def _available() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


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


if __name__ == "__main__":
    pid, processes, memory, shared, room = sys.argv[1:]
    print(watch(int(pid), int(processes), int(memory), Path(shared), int(room)), flush=True)
    os._exit(0)  # whoever measures may still wait for what was just ended
