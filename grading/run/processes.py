"""End a process with all that it started, also what left its session."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import sys
import time

import psutil

MARK = "KAFKALAB_ATTEMPT"
"""In the environment of a kernel and all that it starts; tells whose a stray process is."""
PR_SET_CHILD_SUBREAPER = 36
PATIENCE = 5.0  # seconds


def adopt_orphans() -> None:
    """Let orphans below this process become its children, so that the tree can be ended whole.

    Linux alone knows this; elsewhere the mark in the environment finds most of them.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_below(pid: int) -> None:
    """Kill every process below `pid` until none is left, newcomers too."""
    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        while children := list(filter(is_alive, top.children(recursive=True))):
            end(children)


def is_alive(process: psutil.Process) -> bool:
    """Whether there is anything to end: it may have gone since it was found."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def end_marked(mark: str) -> None:
    """Kill every process that carries the mark of an attempt in its environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark:
                found.append(process)
    end(found)


def end(processes: list[psutil.Process]) -> None:
    """Kill these and wait until they have ended.

    Not until their numbers are free, as psutil does: whoever started one may be slow to take its
    end, or wait for ours.
    """
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    deadline = time.monotonic() + PATIENCE
    for process in processes:
        wait_for(process, max(deadline - time.monotonic(), 0.0))


def wait_for(process: psutil.Process, seconds: float) -> None:
    """Wait for the end of a process; take it, where it is a child of this one."""
    if sys.platform == "linux":
        try:
            number = os.pidfd_open(process.pid)
        except OSError:  # gone
            return
        try:
            looks = select.poll()
            looks.register(number, select.POLLIN)
            looks.poll(1000 * seconds)
        finally:
            os.close(number)
        seconds = 0.0
    with contextlib.suppress(psutil.Error):
        process.wait(seconds)
