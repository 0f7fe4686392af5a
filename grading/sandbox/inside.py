"""The first program in a sandbox: it bounds itself and becomes the kernel.

    python -m grading.sandbox.inside BYTES PROCESSES FILE-BYTES -f CONNECTION

What these bounds stop raises an error in the student's cell, and the rest is graded. What comes
about by many processes together is seen from outside (watch.py).
"""

from __future__ import annotations

import resource
import runpy
import sys

FILES = 4096


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


if __name__ == "__main__":
    bound(*map(int, sys.argv[1:4]))
    sys.argv[1:4] = []
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)
