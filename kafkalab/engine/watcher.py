"""End a cluster when its owner dies, whatever the owner died of.

    python -m kafkalab.engine.watcher FOLDER

The watcher is a process in a session of its own, so an interrupt of the owner does not reach it.
It reads a pipe whose other end only the owner holds. End of file means that the owner is gone:
the watcher cleans up and removes the slot's folder. It inherits the slot's lock, so nobody takes
the slot before that is done. Two words may come through the pipe first: `done` (the owner has
cleaned up itself) and `keep` (the cluster shall outlive its owner until the watcher gets SIGTERM).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from kafkalab import environment
from kafkalab.engine.slot import Slot

DONE = b"done"
KEEP = b"keep"

_OPEN_PIPES: set[int] = set()


def _forget_pipes() -> None:
    # A forked child must not keep the pipe open: the owner's death would go unnoticed.
    for descriptor in _OPEN_PIPES:
        os.close(descriptor)
    _OPEN_PIPES.clear()


os.register_at_fork(after_in_child=_forget_pipes)


class Guard:
    """The owner's end of the pipe."""

    def __init__(self, slot: Slot) -> None:
        theirs, self._pipe = os.pipe()
        _OPEN_PIPES.add(self._pipe)
        with (slot.folder / "watcher.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kafkalab.engine.watcher", str(slot.folder)],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[slot.lock],
                start_new_session=True,
                cwd=Path(__file__).parents[2],
                env=environment.for_python(),
            )
        os.close(theirs)

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
        if self._pipe in _OPEN_PIPES:
            with contextlib.suppress(BrokenPipeError):  # `down --all` has ended it
                os.write(self._pipe, word)
            _OPEN_PIPES.discard(self._pipe)
            os.close(self._pipe)


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

    engine.clean(folder)
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
