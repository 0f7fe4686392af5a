"""How the processes of a student are found, frozen and ended while a cell runs.

Each is found by a word among its arguments. What kills, stops or freezes one asks for more where
there is a cluster: that it is connected to a broker. Nothing that only bears the name dies for it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from grading.faults.links import ports_of

# Seconds for which all but some may stand still. kafka-python's quick clients give a request up
# after five, and each is as late as the machine makes it.
LONGEST_STANDSTILL = 3.0
STACK = 25  # its place in /proc/PID/stat, behind the name


class NotReached(Exception):
    """The cell was over before it came to the fault. The text names what was awaited."""


class Processes:
    """Those of the process that runs the cells, its `owner`."""

    def __init__(self, owner: int) -> None:
        self.is_over = threading.Event()
        """Set when the cell is over."""
        self._owner = owner
        self._frozen: list[psutil.Process] = []
        self._freezing = threading.RLock()

    def note(self, words: str) -> None:
        """Keep what happened."""
        raise NotImplementedError

    @property
    def ports(self) -> set[int]:
        """Of the brokers."""
        raise NotImplementedError

    def process(self, word: str) -> psutil.Process | None:
        """The youngest process of the student's cell that has this word among its arguments.

        One that an earlier cell left behind may bear the same name.
        """
        return _youngest(self.processes(word))

    def client(self, word: str) -> psutil.Process | None:
        """The same among those that are connected to a broker: not what only bears the name."""
        ports = self.ports
        return _youngest([one for one in self.processes(word) if ports & ports_of(one)])

    def processes(self, word: str) -> list[psutil.Process]:
        """All processes of the student's cell that have this word among their arguments."""
        found = []
        with suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self._owner).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    if word in process.cmdline():
                        found.append(process)
        return found

    def kill_process(self, word: str) -> int:
        """SIGKILL: no chance to say good-bye. Returns when that was, in ms as brokers date.

        It does nothing more from then on; that it has ended shows some milliseconds later.
        """
        with self._found(word) as process:
            process.kill()
        self.note(f"process {word} killed")
        return int(time.time() * 1000)

    def stop_process(self, word: str) -> None:
        """SIGTERM: it may say good-bye, or not listen."""
        with self._found(word) as process:
            process.terminate()
        self.note(f"process {word} asked to end")

    def freeze_process(self, word: str) -> None:
        """Let it stand still; it goes on when the cell is over, at last."""
        with self._found(word) as process:
            process.suspend()
        with self._freezing:
            self._frozen.append(process)
        self.note(f"process {word} frozen")

    @contextmanager
    def nobody_but(self, *words: str) -> Iterator[Callable[[], bool]]:
        """Of the student's, only the clients of these words run on, and what they have started.

        Yields whether that is still so: after LONGEST_STANDSTILL all go on, whoever needs longer.
        What came about while it was so is their work. Who practises runs this fault in the
        notebook's own process, which also keeps the cluster: there everything goes on.
        """
        frozen = self._freeze_all_but(words) if self._owner != os.getpid() else []
        is_over = threading.Event()

        def end() -> None:
            is_over.set()
            self._thaw(frozen)

        at_last = threading.Timer(LONGEST_STANDSTILL, end)
        at_last.daemon = True
        at_last.start()
        try:
            yield lambda: not is_over.is_set()
        finally:
            at_last.cancel()
            end()

    def _freeze_all_but(self, words: tuple[str, ...]) -> list[psutil.Process]:
        """From the top down, and again until nobody has come meanwhile. Who stands still now."""
        known = {process for word in words for process in self._with_those_of(word)}
        frozen: list[psutil.Process] = []
        while new := [one for one in _with_those_below(self._owner) if one not in known]:
            known.update(new)
            now = [one for one in new if _suspended(one)]
            frozen += now
            with self._freezing:
                self._frozen += now
        return frozen

    def _with_those_of(self, word: str) -> list[psutil.Process]:
        """Of the client of this name; of who only bears it, where there is no such client yet."""
        process = self.client(word) or self.process(word)
        return [] if process is None else _with_those_below(process.pid)

    def thaw_processes(self) -> None:
        """Let every process go on that was frozen."""
        self._thaw(list(self._frozen))

    def _thaw(self, processes: list[psutil.Process]) -> None:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()
        with self._freezing:
            self._frozen = [one for one in self._frozen if one not in processes]

    @contextmanager
    def _found(self, word: str) -> Iterator[psutil.Process]:
        """The process to break: a client of this name, where there is a cluster.

        One that only bears the name is not reached, and one that is not connected yet is waited
        for while the cell runs.
        """
        what = f"a process with {word!r} among its arguments"
        unreached = NotReached(f"{what} that is connected to a broker" if self.ports else what)
        look = self.client if self.ports else self.process
        while (process := look(word)) is None:
            if self.is_over.wait(0.02) or not self.ports:
                raise unreached
        try:
            yield process
        except psutil.NoSuchProcess:
            raise unreached from None


def program_of(process: psutil.Process) -> int:
    """A number of the program that a process runs, which is another after an `exec`.

    It is the address of its stack, which Linux draws for each; 0 where nobody tells.
    """
    with suppress(OSError, ValueError, IndexError):
        words = Path(f"/proc/{process.pid}/stat").read_text("utf-8", "replace").rpartition(")")[2]
        return int(words.split()[STACK])
    return 0


def _youngest(processes: list[psutil.Process]) -> psutil.Process | None:
    return max(processes, key=lambda one: (one.create_time(), one.pid), default=None)


def _suspended(process: psutil.Process) -> bool:
    """Stop it; false where it is gone, or nobody may."""
    with suppress(psutil.Error):
        process.suspend()
        return True
    return False


def _with_those_below(owner: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        top = psutil.Process(owner)
        return [top, *top.children(recursive=True)]
    return []
