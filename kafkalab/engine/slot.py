"""A slot: one number from which everything that could clash comes (ports, folder, project name).

A slot is held by a file lock that the system drops when its holders die, so two clusters of one
state folder never meet and a slot is never lost. People who share a machine have a folder each. So
whoever takes a slot also holds a port of it that nothing listens on: else they would begin in the
same one at the same moment, and in the next one again.

Slot 0 has the ports of docker-compose.yml; slot n has the hundred ports from 10000 + 100 n, below
those that systems hand out by themselves.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from kafkalab import places
from kafkalab.errors import CourseError
from kafkalab.files import write_whole

SLOTS = 100
PER_SLOT = 100
FIRST_PORT = 10_000
# Ports inside a cluster (between its nodes) lie behind those for clients.
INTERNAL = 50
# The last of them is for whoever takes the slot.
CLAIMED = PER_SLOT - 1
# In the folder of one that could not be cleaned.
STUCK = "stuck.json"


class SlotInUse(CourseError):
    """Something is in the way of a cluster in this slot, and of none in another."""


class StuckSlot(SlotInUse):
    """What a cluster left in its slot does not end, or cannot be removed."""

    def __init__(self, folder: Path, why: str, mend: str) -> None:
        super().__init__(
            f"What a cluster left in {folder.name.replace('-', ' ')} cannot be removed.",
            why,
            f"{mend} Then: ./course down --slot {folder.name.removeprefix('slot-')}",
        )


@dataclass
class Slot:
    """Held from `take` until `release` or the death of its holders."""

    number: int
    folder: Path
    ports: dict[str, int]
    notes: list[str] = field(default_factory=list)
    _lock: int | None = None
    _claim: int | None = None
    _internal: dict[str, int] = field(default_factory=dict)

    @classmethod
    def take(
        cls,
        published: Mapping[str, int],
        clean: Callable[[Path], None] = lambda folder: None,
        without: Collection[int] = (),
    ) -> Slot:
        """The first slot that nobody holds and whose ports are free.

        `published` names the port variables of the profile with their defaults. `clean` ends what
        a dead owner left in a slot's folder; the folder itself is removed here. One that it could
        not clean (a StuckSlot) is passed over, now and until somebody did or the machine started
        anew: each try would take a minute. `without`: numbers to pass over, too.
        """
        notes: list[str] = []
        for number in range(SLOTS):
            if number in without:
                continue
            lock = _lock(_lock_file(number))
            if lock is None:
                continue
            folder = _folder(number)
            try:
                if not (stuck := _stuck(folder)):
                    try:
                        clean(folder)
                    except StuckSlot as error:
                        stuck = mark(folder, error)
                if stuck:
                    os.close(lock)
                    notes.append(f"Slot {number} is passed over. {stuck}")
                    continue
                shutil.rmtree(folder, ignore_errors=True)
                slot = cls(number, folder, _ports(number, published), notes, lock)
                taken = [port for port in slot.ports.values() if not is_free(port)]
                if not taken:
                    folder.mkdir(parents=True, mode=0o700)
                    slot._claim = _claim(number)
                    if slot._claim is not None:
                        _ONLY_HERE.update({lock, slot._claim})
                        return slot
                    folder.rmdir()
            except BaseException:
                os.close(lock)
                raise
            os.close(lock)
            if taken:
                holder = describe_holder(taken[0])
                notes.append(f"{holder[0].upper()}{holder[1:]}, so slot {number} is passed over.")
        raise CourseError(
            f"None of the {SLOTS} slots for clusters is free.",
            notes[-1] if notes else "Each is held by a running cluster.",
            "End the clusters that this course started: ./course down --all",
        )

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Slot:
        """The slot of a cluster that another process started, from its record."""
        return cls(facts["slot"], Path(facts["folder"]), dict(facts["ports"]))

    @property
    def project(self) -> str:
        """The name of the Docker Compose project."""
        return f"kafkalab-{self.number}"

    @property
    def record(self) -> Path:
        """Where `describe` writes what runs here."""
        return self.folder / "cluster.json"

    @property
    def lock(self) -> int:
        """The lock's file descriptor; a watcher inherits it so that it can outlive the owner."""
        if self._lock is None:
            raise CourseError(f"Slot {self.number} is given back already.")
        return self._lock

    def internal_port(self, name: str) -> int:
        """A free port of this slot for traffic inside the cluster, the same one for each call."""
        if name not in self._internal:
            first = FIRST_PORT + PER_SLOT * self.number + INTERNAL
            used = set(self._internal.values())
            for port in range(first, first + CLAIMED - INTERNAL):
                if port not in used and is_free(port):
                    self._internal[name] = port
                    break
            else:
                raise CourseError(f"Slot {self.number} has no free port left for {name}.")
        return self._internal[name]

    def describe(self, facts: Mapping[str, Any]) -> None:
        """Leave a record that `status`, `attach` and the clean-up of a dead owner read."""
        text = json.dumps({"slot": self.number, "folder": str(self.folder), **facts}, indent=1)
        write_whole(self.record, text)

    def release(self, stuck: StuckSlot | None = None) -> None:
        """Remove the folder and let others have the slot. Safe to call twice.

        stuck: what is left here and will not go. Then the folder stays and tells of it, and
        others pass the slot over.
        """
        if self._lock is None:
            return
        if stuck is None:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            mark(self.folder, stuck)
        for descriptor in (self._lock, self._claim):
            if descriptor is not None:
                _ONLY_HERE.discard(descriptor)
                os.close(descriptor)
        self._lock = self._claim = None


# A child made by fork (multiprocessing) inherits the descriptors and with them the slot. It would
# keep it after the owner's death, so it closes its copies; the owner's stay.
_ONLY_HERE: set[int] = set()


def _forget() -> None:
    for descriptor in _ONLY_HERE:
        os.close(descriptor)
    _ONLY_HERE.clear()


os.register_at_fork(after_in_child=_forget)


def records() -> list[dict[str, Any]]:
    """What `describe` wrote for each slot in use or left behind, with its folder and `held`."""
    found = []
    for number in range(SLOTS):
        folder = _folder(number)
        if not folder.exists():
            continue
        try:
            facts = json.loads((folder / "cluster.json").read_text())
        except FileNotFoundError:
            # Still starting, or ended while it started.
            facts = {"slot": number, "folder": str(folder)}
        found.append({**facts, "held": is_held(number)})
    return found


def is_held(number: int) -> bool:
    """Whether a living process holds this slot."""
    lock = _lock(_lock_file(number))
    if lock is None:
        return True
    os.close(lock)
    return False


def is_free(port: int) -> bool:
    """Whether a server could bind this port on 127.0.0.1 now."""
    for address in ("127.0.0.1", "0.0.0.0"):
        with socket.socket() as probe:
            # As servers do: ports of connections that are over do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError:
                return False
    return True


def describe_holder(port: int) -> str:
    """`port 9092 is held by java (pid 4711)`, as far as the system tells."""
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.laddr and connection.laddr.port == port and not connection.raddr:
                if connection.pid is None:
                    break
                return f"port {port} is held by {_name(connection.pid)} (pid {connection.pid})"
    except psutil.AccessDenied:
        pass  # macOS shows other users' sockets to root only; then the port alone must do
    return f"port {port} is held by a process of another user"


def _name(pid: int) -> str:
    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return "a process that is gone now"


def mark(folder: Path, stuck: StuckSlot) -> str:
    """Leave word in a folder that it cannot be cleaned, for `take`; goes with the folder."""
    said = " ".join(stuck.lines())
    folder.mkdir(exist_ok=True, mode=0o700)
    write_whole(folder / STUCK, json.dumps({"said": said, "boot": psutil.boot_time()}))
    return said


def _stuck(folder: Path) -> str:
    """What `mark` left; nothing once the machine has started anew, which may have mended it."""
    with contextlib.suppress(FileNotFoundError):
        told = json.loads((folder / STUCK).read_text())
        # The time of the start moves a little where the clock is set.
        if abs(told["boot"] - psutil.boot_time()) < 60:
            return str(told["said"])
    return ""


def _ports(number: int, published: Mapping[str, int]) -> dict[str, int]:
    if number == 0:
        return dict(published)
    first = FIRST_PORT + PER_SLOT * number
    return {name: first + place for place, name in enumerate(published)}


def _folder(number: int) -> Path:
    return places.state() / f"slot-{number}"


def _lock_file(number: int) -> Path:
    # Never removed: whoever holds a lock must hold the lock of the file that others will open.
    folder = places.state() / "locks"
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder / str(number)


def _lock(path: Path) -> int | None:
    """An exclusive lock, or None where somebody holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _claim(number: int) -> int | None:
    """Bind the slot's own port, or None where somebody with another folder has bound it."""
    with socket.socket() as bound:
        try:
            bound.bind(("127.0.0.1", FIRST_PORT + PER_SLOT * number + CLAIMED))
        except OSError:
            return None
        return bound.detach()
