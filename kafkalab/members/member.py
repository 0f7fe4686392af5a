"""A member as its starter sees it: a process with a name, and what it wrote down."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import psutil

from kafkalab import environment
from kafkalab.clients import opened
from kafkalab.errors import CourseError
from kafkalab.machine import lifeline
from kafkalab.members.events import Event, read
from kafkalab.members.program import GRACE, Errand
from kafkalab.wait import wait_until

T = TypeVar("T")

RUN = "from kafkalab.members import program; program.main"

LIMIT = 1_800  # seconds after which a member ends that everybody has forgotten

# The members that this process started and that have not ended yet, by their names.
_RUNNING: dict[str, Member] = {}


def start(text: str, name: str, *, address: str = "", limit: float = LIMIT, **given: Any) -> Member:
    """Run these lines as a program of its own, beside the cells; it has not begun yet on return.

    Each keyword becomes a name in the lines; kafkalab/members/program.py says what else is at hand
    there. With the cluster at `address`, the member ends too. One of the same name that still runs
    is stopped first.
    """
    if earlier := _RUNNING.get(name):
        earlier.stop()
    return Member(Errand(text, name, limit, {"address": address, **given}), address)


def stop_all() -> None:
    """Stop every member that this process started, whatever cell has it; see `Member.stop`."""
    for one in list(_RUNNING.values()):
        one.stop()


class Member:
    """Made by `start`."""

    def __init__(self, errand: Errand, address: str) -> None:
        self.name = errand.name
        # What `opened` asks a client for: a member is one more thing that a cell opened.
        self.config = {"bootstrap_servers": address}
        # Files without a name: they are gone with the last process that has them open.
        self._written = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - read to the end
        self._said = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._events: list[Event] = []
        self._read = 0
        self._reading = threading.Lock()
        self._thaw_at = time.monotonic() + errand.limit
        self._waking: threading.Timer | None = None
        self._line = lifeline.Lifeline()
        self._process = subprocess.Popen(
            # The name is for whoever looks for it among the processes, as a fault of a lab does.
            [sys.executable, "-P", "-c", f"{RUN}({self._written.fileno()})", self.name],
            stdin=self._line.theirs,
            stdout=self._said,
            stderr=self._said,
            pass_fds=[self._written.fileno()],
            env=environment.for_python(),
            # A group of its own, so that a kernel's interrupt is not for it. But not a session of
            # its own: where the starter of a group of the same session ends, the system wakes
            # those of the group that stand still (with SIGHUP), and a frozen member ends too.
            process_group=0,
        )
        self._line.given()
        _RUNNING[self.name] = self
        opened.hold(self)
        self._line.say(pickle.dumps(errand))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def events(self) -> list[Event]:
        """What it has written down so far; each event is whole."""
        with self._reading:
            # With its own place for reading: the file's is the one at which the member writes.
            size = os.fstat(self._written.fileno()).st_size
            new = os.pread(self._written.fileno(), size - self._read, self._read)
            found, taken = read(new)
            self._events += found
            self._read += taken
            return list(self._events)

    @property
    def state(self) -> str:
        """`running`, `frozen` or `ended`."""
        if self._process.poll() is not None:
            self._forget()
            return "ended"
        with contextlib.suppress(psutil.Error):
            if psutil.Process(self.pid).status() == psutil.STATUS_STOPPED:
                return "frozen"
        return "running"

    @property
    def said(self) -> str:
        """What its lines printed, and the report of a fault that ended them."""
        size = os.fstat(self._said.fileno()).st_size
        return os.pread(self._said.fileno(), size, 0).decode(errors="replace")

    # --- Waiting -------------------------------------------------------------------------------

    def wait_for(
        self, condition: Callable[[list[Event]], T | None], *, what: str, timeout: float = 30
    ) -> T:
        """The first answer of `condition`, which gets the events so far; see `wait_until`.

        A member that has ended without it is an error at once.
        """

        def answer() -> T | None:
            ended = self.state == "ended"  # asked first: what it wrote before is then there
            found = condition(self.events)
            if ended and (found is None or found is False):
                raise CourseError(
                    f"{self.name} has ended without {what}.",
                    self.said.strip() or f"Its last event: {self._last()}.",
                )
            return found

        return wait_until(answer, timeout=timeout, what=f"{what} of {self.name}", seen=self._last)

    def wait_for_end(self, timeout: float = 30) -> None:
        """Until its lines have ended. A fault of theirs is an error here; to be killed is none."""
        wait_until(
            lambda: self.state == "ended",
            timeout=timeout,
            what=f"the end of {self.name}",
            seen=self._last,
        )
        code = self._process.returncode
        if code not in (0, -signal.SIGKILL):
            raise CourseError(f"The program of {self.name} ended with {code}.", self.said.strip())

    # --- Faults --------------------------------------------------------------------------------

    def stop(self) -> None:
        """Ask it to end, and wait: `running()` is False from now on. Safe to call twice.

        One that does not end is killed after some seconds.
        """
        if self.state == "ended":
            return
        self._process.terminate()
        self.thaw()  # a frozen one hears it only then
        try:
            self._process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._forget()

    close = stop  # by this name a cell that is run again ends what it opened

    def kill(self) -> None:
        """End it at once, so that it can tell nobody."""
        self._process.kill()
        self._process.wait()
        self._forget()

    def freeze(self) -> None:
        """Let it stand still, as a machine does that has too much to do. (At its limit it ends.)"""
        self._process.send_signal(signal.SIGSTOP)
        wait_until(lambda: self.state != "running", timeout=5, what=f"{self.name} to stand still")
        self._waking = threading.Timer(max(self._thaw_at - time.monotonic(), 0), self.thaw)
        self._waking.daemon = True
        self._waking.start()

    def thaw(self) -> None:
        """Let it go on where it stood still."""
        if self._waking is not None:
            self._waking.cancel()
        self._process.send_signal(signal.SIGCONT)

    def let_go(self) -> None:
        """End the `work` that it has in hand; without any, nothing happens."""
        if self.state == "running":
            self._process.send_signal(signal.SIGUSR1)

    def __repr__(self) -> str:
        events = self.events
        return f"{self.name}: {self.state}, {len(events)} event{'' if len(events) == 1 else 's'}"

    def _last(self) -> str:
        events = self.events
        return f"{events[-1].what} {events[-1].facts or ''}".strip() if events else "none"

    def _forget(self) -> None:
        if _RUNNING.get(self.name) is self:
            del _RUNNING[self.name]
        opened.release(self)
        self._line.let_go()
