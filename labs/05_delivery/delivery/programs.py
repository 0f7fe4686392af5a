"""A program as a process of its own, which can be killed, interrupted and frozen like a broker.

    producer = programs.start("producer", bootstrap=cluster.address, acks=0)
    producer.wait_for("cycle 1")
    producer.wait()             # its exit status

Its lines are collected as they come. A program that still runs when its owner ends is killed.
"""

from __future__ import annotations

import atexit
import os
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from delivery.options import ConsumerOptions, ProducerOptions, arguments
from delivery.payload import Entry, path_of, read
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until

KINDS = {"producer": ProducerOptions, "consumer": ConsumerOptions}
# Says to a program that its standard input is a line to its owner: when it closes, the owner is
# gone.
OWNED = "DELIVERY_OWNED"
STAMPED = re.compile(r" *(\d+\.\d+)  (.*)", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """`seconds` since the program's start, by its own clock; `came_at` by ours, since 1970.

    A line of a traceback has no time of its own; it gets that of the line before.
    """

    seconds: float
    text: str
    came_at: float

    def __str__(self) -> str:
        return f"{self.seconds:9.3f}  {self.text}"


class Program:
    """A running producer or consumer, and afterwards what it said."""

    def __init__(self, role: str, process: subprocess.Popen[str], log: Path, failed: Path) -> None:
        self.role = role
        self.log = log
        self.failed_log = failed
        self.started_at = time.time()
        self._process = process
        self._lines: list[Line] = []
        self._reader = threading.Thread(target=self._collect, daemon=True)
        self._reader.start()

    # --- What it said --------------------------------------------------------------------------

    @property
    def lines(self) -> list[Line]:
        return list(self._lines)

    def said(self, pattern: str) -> list[Line]:
        """The lines in which a regular expression is found, so far."""
        return [line for line in self.lines if re.search(pattern, line.text)]

    def wait_for(self, pattern: str, timeout: float = 30, count: int = 1) -> Line:
        """Until it has said this (for the `count`-th time); the line. An end before it is an error.

        The time runs from the call, and lines that are there already count.
        """

        def found() -> list[Line]:
            over = self._process.poll() is not None and not self._reader.is_alive()
            lines = self.said(pattern)
            if over and len(lines) < count:
                raise CourseError(
                    f"The {self.role} ended before it said {pattern!r}.",
                    f"Its last words: {self.tail()}",
                )
            return lines if len(lines) >= count else None

        return wait_until(
            found,
            timeout=timeout,
            what=f"the {self.role} to say {pattern!r}",
            seen=lambda: f"the {self.role} said: {self.tail()}",
        )[count - 1]

    def tail(self, lines: int = 3) -> str:
        return " / ".join(line.text for line in self._lines[-lines:]) or "nothing"

    @property
    def payload(self) -> list[Entry]:
        """What its payload log holds now, entries of earlier runs included."""
        return read(self.log)

    @property
    def failed(self) -> list[Entry]:
        """The sends of a producer that failed."""
        return read(self.failed_log)

    @property
    def partitions(self) -> list[int]:
        """What a consumer owns by its own account."""
        told = self.said(r"; has ")
        names = told[-1].text.rpartition("; has ")[2] if told else ""
        return [int(number) for number in re.findall(r"(?<=[ ,])\d+(?=[,;]|$)", names)]

    @property
    def read_up_to(self) -> dict[int, int]:
        """Partition -> the position at which a consumer said that nothing is left.

        Empty where that is not the last thing that it said of its reading.
        """
        told = self.said(r"^(nothing left|batch of|assigned|revoked|lost|quit)")
        if not told or not told[-1].text.startswith("nothing left"):
            return {}
        return {int(number): int(at) for number, at in re.findall(r" (\d+): (\d+)", told[-1].text)}

    @property
    def generation(self) -> int:
        """Of its group, when it last said so."""
        return int(self.said("^generation")[-1].text.split()[1])

    # --- How it ends ---------------------------------------------------------------------------

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def wait(self, timeout: float = 60) -> int:
        """Until it has ended; the exit status."""
        wait_until(
            lambda: self._process.poll() is not None,
            timeout=timeout,
            what=f"the {self.role} to end",
            seen=lambda: f"the {self.role} said: {self.tail()}",
        )
        self._reader.join(5)
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.returncode

    def kill(self) -> int:
        """SIGKILL. Ends a frozen program too."""
        return self._end(signal.SIGKILL)

    def interrupt(self) -> int:
        """SIGINT, what Ctrl-C sends."""
        return self._end(signal.SIGINT)

    def stop(self) -> int:
        """SIGTERM."""
        return self._end(signal.SIGTERM)

    def _end(self, kind: signal.Signals) -> int:
        if self._process.poll() is None:
            self._process.send_signal(kind)
        return self.wait()

    def freeze(self) -> None:
        """SIGSTOP: it stands still and its connections stay open."""
        self._process.send_signal(signal.SIGSTOP)
        process = psutil.Process(self._process.pid)
        wait_until(
            lambda: process.status() == psutil.STATUS_STOPPED, timeout=5, what="it to stand still"
        )

    def resume(self) -> None:
        """SIGCONT."""
        self._process.send_signal(signal.SIGCONT)

    def __repr__(self) -> str:
        state = "runs" if self.status is None else f"ended with status {self.status}"
        return f"{self.role} {state}; said last: {self.tail(1)}"

    def _collect(self) -> None:
        assert self._process.stdout is not None
        for text in self._process.stdout:
            stamped = STAMPED.fullmatch(text.rstrip("\n"))
            if stamped:
                line = Line(float(stamped[1]), stamped[2], time.time())
            else:
                before = self._lines[-1].seconds if self._lines else 0.0
                line = Line(before, text.rstrip("\n"), time.time())
            self._lines.append(line)
        self._process.stdout.close()


_RUNNING: weakref.WeakSet[Program] = weakref.WeakSet()


def start(role: str, **options: Any) -> Program:
    """Start `producer` or `consumer` with these options, named as in options.py."""
    if role not in KINDS:
        raise CourseError(f"There is no program {role!r}.", f"There are {' and '.join(KINDS)}.")
    kind = KINDS[role]
    command = [sys.executable, "-m", "delivery", role, *arguments(kind, options)]
    above = str(Path(__file__).resolve().parent.parent)
    paths = [above, *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="backslashreplace",
        env=os.environ | {OWNED: "1", "PYTHONPATH": os.pathsep.join(paths)},
        # What interrupts a cell of a notebook goes to the whole group of processes.
        start_new_session=True,
    )
    chosen = kind(**options)
    places = (
        path_of(chosen.directory, role, chosen.local_id, which) for which in ("payload", "failed")
    )
    program = Program(role, process, *places)
    _RUNNING.add(program)
    return program


def end_all() -> None:
    """Kill every program that this process started."""
    for program in list(_RUNNING):
        program.kill()


atexit.register(end_all)
