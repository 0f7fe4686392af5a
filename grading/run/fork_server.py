"""A process that has loaded what each attempt loads, and forks one for each that is asked for.

Loading took half of the processor's time of a short hand-in. The server runs no code of a student
and none of a lab: it loads modules, has one thread, and ends with whoever started it. Where a fork
with so much loaded is not safe (macOS), or there is none, an attempt loads for itself.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from grading.define.definition import Definition
from grading.run.loaded import load, loaded
from grading.run.surroundings import Surroundings
from kafkalab import environment

IS_SAFE = sys.platform == "linux"
LENGTH = 4
"""Bytes that say how long a request is; its open files travel with them."""
STREAMS = 3
"""Standard input, output and errors, in this order."""
UNKNOWN = -signal.SIGKILL
"""How a process ended whose server is gone, so that nobody can tell."""


class AttemptProcess(Protocol):
    """What an attempt asks of its process, as `subprocess.Popen` has it."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...
    def wait(self) -> int: ...
    def kill(self) -> None: ...


class Forked:
    """A process that the server forked; how it ended comes through a pipe of its own."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told.makefile("rb")
        told.close()  # the file holds it
        self.returncode: int | None = None
        first = self._told.readline()
        if not first:
            raise OSError("the process that forks for the grader is gone")
        self.pid = int(first)
        self._lock = threading.Lock()
        self._is_ended = threading.Event()
        threading.Thread(target=self._await, daemon=True).start()

    def poll(self) -> int | None:
        """Its exit code, or minus the number of the signal; None while it runs."""
        return self.returncode

    def wait(self) -> int:
        """Wait for its end."""
        self._is_ended.wait()
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        """End it at once. Nothing where it has ended."""
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self.returncode is None:
                os.kill(self.pid, signal.SIGKILL)

    def _await(self) -> None:
        with self._told:
            line = self._told.readline()
        with self._lock:
            self.returncode = int(line) if line else UNKNOWN
        self._is_ended.set()


class ForkServer:
    """Starts processes that run a function of a module; made where many are wanted.

    names: what it loads first, as loaded.py has it. Ends with this process, or at `close`; what was
    forked goes on.
    """

    def __init__(self, names: Sequence[str]) -> None:
        ours, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grading.run.fork_server", *names],
            stdin=theirs.fileno(),
            start_new_session=True,  # an interrupt is for who asks, not for who works
            env=environment.for_python(),
        )
        theirs.close()
        self._requests = ours
        self._lock = threading.Lock()
        self._is_asked = False

    def start(
        self, call: str, arguments: Sequence[str], stdin: int, stdout: int, stderr: int
    ) -> Forked:
        """Fork a process that calls "module:function" with these arguments.

        Its streams are these open files. It has a session of its own, this process's folder, and
        the environment that every program of ours in Python gets. Raises OSError where the server
        is gone.
        """
        ours, theirs = socket.socketpair()
        request = {
            "call": call,
            "arguments": list(arguments),
            "environment": environment.for_python(),
            "folder": str(Path.cwd()),
        }
        line = json.dumps(request).encode()
        files = [stdin, stdout, stderr, theirs.fileno()]
        with theirs, self._lock:
            self._is_asked = True
            socket.send_fds(self._requests, [len(line).to_bytes(LENGTH)], files)
            self._requests.sendall(line)
        return Forked(ours)

    @property
    def is_there(self) -> bool:
        """Whether it has not been ended, by a machine that is short of memory for example."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the server. Safe to call twice."""
        self._requests.close()
        if not self._is_asked:  # it may still load what nobody wants any more
            self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def ahead(lab: Definition, around: Surroundings) -> Iterator[ForkServer | None]:
    """A server for attempts at this lab, before one is needed; None where a fork is not safe."""
    server = ForkServer(loaded(lab, around)) if IS_SAFE else None
    try:
        yield server
    finally:
        if server is not None:
            server.close()


def serve(requests: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Fork for each request until nobody can ask any more, then return None.

    In each child it returns too, as a fork does: with what was asked for and its files.
    """
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    signal.set_wakeup_fd(waking.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    told: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as waits, requests, woken, waking:
        waits.register(requests, selectors.EVENT_READ)
        waits.register(woken, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in waits.select()}
            if woken in ready:
                woken.recv(1024)
                tell_of_ended(told)
            if requests not in ready:
                continue
            asked = received(requests)
            if asked is None:
                return None
            files = asked[1]
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for other in told.values():
                    other.close()
                return asked
            for number in files[:STREAMS]:
                os.close(number)
            told[pid] = socket.socket(fileno=files[STREAMS])
            tell(told[pid], pid)


def received(requests: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """A request and its files; None at the end."""
    length, files, _, _ = socket.recv_fds(requests, LENGTH, STREAMS + 1)
    if not length:
        return None
    line = requests.recv(int.from_bytes(length), socket.MSG_WAITALL)
    return json.loads(line), files


def tell_of_ended(told: dict[int, socket.socket]) -> None:
    """Say of each child that ended how."""
    for pid in list(told):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with told.pop(pid) as whom:
                tell(whom, os.waitstatus_to_exitcode(status))


def tell(whom: socket.socket, number: int) -> None:
    """A number on a line; whoever asked may be gone."""
    with contextlib.suppress(OSError):
        whom.sendall(b"%d\n" % number)


def become(request: dict[str, Any], files: Sequence[int]) -> None:
    """In the child: run what was asked for, in a session and with streams of its own."""
    os.setsid()
    for stream, number in enumerate(files[:STREAMS]):
        os.dup2(number, stream)
    for number in files:
        os.close(number)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    module, _, function = request["call"].partition(":")
    getattr(importlib.import_module(module), function)(*request["arguments"])


def main() -> None:
    """Load what the command names, then fork for who holds the other end of standard input."""
    requests = socket.socket(fileno=os.dup(0))
    load(sys.argv[1:])
    gc.freeze()  # what is loaded stays; no child needs to look through it
    asked = serve(requests)
    if asked is not None:
        become(*asked)


if __name__ == "__main__":
    main()
