"""The first program in a sandbox: it bounds itself and becomes the kernel.

    python -m grading.sandbox.inside BYTES PROCESSES FILE-BYTES -f CONNECTION

What these bounds stop raises an error in the student's cell, and the rest is graded. What comes
about by many processes together is seen from outside (watch.py).
"""

from __future__ import annotations

import importlib
import resource
import runpy
import sys
from types import ModuleType
from typing import cast

FILES = 4096
DEBUGGER = "debugpy.server"


def bound(memory: int, processes: int, file: int) -> None:
    """Set the limits of this process and of all that it will start."""
    for kind, value in (
        # of one process, without what it only reserves, as Java does in plenty
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_FSIZE, file),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (least, least))


def without_debugger() -> None:
    """Let the kernel find no debugger, whose loading is a fifth of its start: nobody steps here.

    Code of a student that imports one finds it.
    """
    sys.modules[DEBUGGER] = cast(ModuleType, None)
    importlib.import_module("ipykernel.debugger")
    del sys.modules[DEBUGGER]


if __name__ == "__main__":
    bound(*map(int, sys.argv[1:4]))
    sys.argv[1:4] = []
    without_debugger()
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)
