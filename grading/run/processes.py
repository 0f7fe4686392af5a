"""End a process with all that it started, also what left its session."""

from __future__ import annotations

import contextlib
import ctypes
import sys

import psutil

from grading.run.kernel import MARK

PR_SET_CHILD_SUBREAPER = 36


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
    """Kill these and wait until they are gone."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=5)
