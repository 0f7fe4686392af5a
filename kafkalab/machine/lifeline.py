"""Let a program end with whoever started it, also where that one is killed.

    python -m kafkalab.machine.lifeline MODULE ARGUMENTS…

runs a module that knows nothing of this. The line is standard input: a pipe whose other end only
the starter holds. End of file means that the starter is gone.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import signal
import sys
import threading
from collections.abc import Callable

GRACE = 10  # seconds for a program that wants to end in good order

_HELD: set[int] = set()


def _forget() -> None:
    # A forked child must not keep a line open: its starter's death would go unnoticed.
    for descriptor in _HELD:
        os.close(descriptor)
    _HELD.clear()


os.register_at_fork(after_in_child=_forget)


class Lifeline:
    """The starter's end. `theirs` is to be the standard input of the program."""

    def __init__(self) -> None:
        self.theirs, self._ours = os.pipe()
        _HELD.add(self._ours)

    def given(self) -> None:
        """The program has its end of the line: this process needs it no more."""
        os.close(self.theirs)

    def say(self, words: bytes) -> None:
        """Send something through the line, if the program still listens."""
        rest = memoryview(words)
        with contextlib.suppress(BrokenPipeError):
            while rest and self._ours in _HELD:
                rest = rest[os.write(self._ours, rest) :]

    def let_go(self) -> None:
        """What the program takes for the end of its starter. Safe to call twice."""
        if self._ours in _HELD:
            _HELD.discard(self._ours)
            os.close(self._ours)


def hold(at_end: Callable[[], object]) -> None:
    """Call `at_end` when the other end of standard input is closed."""

    def watch() -> None:
        while os.read(0, 100):
            pass
        at_end()

    threading.Thread(target=watch, daemon=True).start()


def end(grace: float = GRACE) -> None:
    """End this program in good order, and by force where that does not help."""
    by_force = threading.Timer(grace, os._exit, [1])
    by_force.daemon = True
    by_force.start()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    hold(end)
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
