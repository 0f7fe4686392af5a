"""End a cluster when its owner dies, whatever the owner died of.

    python -m kafkalab.engine.watcher FOLDER

The watcher is a process in a session of its own, so an interrupt of the owner does not reach it.
It reads a pipe whose other end only the owner holds. End of file means that the owner is gone:
the watcher cleans up and removes the slot's folder. It inherits the slot's lock, so nobody takes
the slot before that is done. Two words may come through the pipe first: `done` (the owner has
cleaned up itself) and `keep` (the cluster shall outlive its owner until the watcher gets SIGTERM).
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from kafkalab import environment
from kafkalab.engine.slot import Slot, StuckSlot, mark
from kafkalab.machine import lifeline

DONE = b"done"
KEEP = b"keep"


class Guard:
    """The owner's end of the pipe."""

    def __init__(self, slot: Slot) -> None:
        self._line = lifeline.Lifeline()
        with (slot.folder / "watcher.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kafkalab.engine.watcher", str(slot.folder)],
                stdin=self._line.theirs,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[slot.lock],
                start_new_session=True,
                cwd=Path(__file__).parents[2],
                env=environment.for_python(),
            )
        self._line.given()

    @property
    def pid(self) -> int:
        return self._process.pid

    def dismiss(self) -> None:
        """Everything is cleaned up: let the watcher end without doing anything."""
        self._say(DONE)
        self._process.wait()

    def keep(self) -> None:
        """Let the cluster live on without an owner."""
        self._say(KEEP)

    def _say(self, word: bytes) -> None:
        self._line.say(word)  # nobody hears it where `down --all` has ended the watcher
        self._line.let_go()


def main(folder: Path) -> None:
    signal.signal(signal.SIGTERM, lambda *_: _end(folder))
    word = sys.stdin.buffer.read()
    if word == KEEP:
        while True:
            signal.pause()
    if word != DONE:
        _end(folder)


def _end(folder: Path) -> None:
    from kafkalab import engine

    try:
        engine.clean(folder)
    except StuckSlot as stuck:
        mark(folder, stuck)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
