"""Let a program end with whoever started it, also where that one is killed.

    python -m kafkalab.setup.doctor.lifeline MODULE ARGUMENTS…

runs a module that knows nothing of this. The line is standard input: a pipe whose other end only
the starter holds. End of file means that the starter is gone.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
from collections.abc import Callable

GRACE = 10  # seconds for a program that wants to end in good order


def hold(at_end: Callable[[], object]) -> None:
    """Call `at_end` when the other end of standard input is closed."""

    def watch() -> None:
        while os.read(0, 100):
            pass
        at_end()

    threading.Thread(target=watch, daemon=True).start()


def end() -> None:
    """End this program in good order, and by force where that does not help."""
    by_force = threading.Timer(GRACE, os._exit, [1])
    by_force.daemon = True
    by_force.start()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    hold(end)
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
