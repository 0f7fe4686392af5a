"""Processes by the mark of a slot, which stands in the command line of all that it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psutil

from kafkalab.engine import java_command
from kafkalab.engine.slot import StuckSlot
from kafkalab.wait import WaitTimeout, wait_until

SECONDS_TO_END = 30.0


def clean(folder: Path) -> None:
    """End every process of a dead owner that carries the mark of the slot with this folder.

    The mark stands in the command line, so a process is found that its owner started a moment
    before it died and told nobody about. Between fork and exec a child does not carry the mark
    yet, so the search goes on until it has found nothing for a while.
    """
    end_all(folder, rounds=3)


def end_all(folder: Path, rounds: int) -> None:
    """Kill what carries the mark, until it was looked for so many times in vain."""
    mark = f"{java_command.MARK}{folder}"
    quiet = 0
    found: list[psutil.Process] = []

    def all_gone() -> bool:
        nonlocal quiet
        found[:] = marked(mark)
        for process in found:
            with contextlib.suppress(psutil.Error):  # gone, or of another user
                process.kill()
        quiet = 0 if found else quiet + 1
        return quiet == rounds

    try:
        wait_until(all_gone, timeout=SECONDS_TO_END, what="them to end")
    except WaitTimeout as late:
        pids = " ".join(str(process.pid) for process in found)
        raise StuckSlot(
            folder,
            f"Processes of it do not end, or others like them come: {pids}.",
            f"End what starts them, and them: sudo kill -9 {pids}",
        ) from late


def marked(mark: str) -> Iterator[psutil.Process]:
    """The living processes with this argument."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                yield process
