"""The system below: Python, cores, the user, and whether the course was ever tried on it.

Standard library alone.
"""

from __future__ import annotations

import os
import platform
import pwd
import sys
from pathlib import Path

from kafkalab.machine import limits
from kafkalab.setup.doctor.diagnosis import Diagnosis

OLDEST_PYTHON = (3, 11)
# Kept in step with the table "What it needs" of README.md.
TRIED = "Debian 12 on x86-64"
UNTRIED = "Windows through WSL 2; macOS, on Intel and on Apple processors; other Linux, also on ARM"


def python() -> Diagnosis:
    """Whether this Python is new enough."""
    version = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        return Diagnosis(
            "python",
            "bad",
            f"Python {version}",
            f"The course needs {oldest} or newer.",
            f"Install Python {oldest}, remove the folder .venv, then: ./course setup",
        )
    return Diagnosis("python", "good", f"{version} at {sys.executable}")


def cores() -> Diagnosis:
    """Whether there are two."""
    count = os.cpu_count() or 1
    if count < 2:
        return Diagnosis("cores", "note", f"{count} core", "Lessons run, but take much longer.")
    return Diagnosis("cores", "good", f"{count} cores")


def system() -> Diagnosis:
    """Whether this is Linux in Windows and of which version, or a system never tried."""
    release = platform.release().lower()
    if "microsoft" in release:
        return _windows(release)
    name = _name()
    if name == TRIED:
        return Diagnosis("system", "good", name)
    return Diagnosis(
        "system",
        "note",
        name,
        f"The course was tried on {TRIED} and not on this. It may well work: what is tried below "
        "says so.",
    )


def user() -> Diagnosis:
    """Whether the number of this user has a name: without one Java knows of no user."""
    number = os.getuid()
    try:
        return Diagnosis("user", "good", f"{pwd.getpwuid(number).pw_name} ({number})")
    except KeyError:
        return Diagnosis(
            "user",
            "bad",
            f"user number {number} has no name in this system",
            "Java asks for the name, and Spark does not start without one. Containers that run "
            "under a number of their own are like that.",
            f"As root: echo 'learner:x:{number}:{os.getgid()}::/tmp:/bin/sh' >> /etc/passwd. Or "
            "start the container with a user that it knows.",
        )


def addresses() -> Diagnosis:
    """Whether a process may have as many addresses as Java reserves (`ulimit -v`)."""
    limit = limits.address_space()
    if found := limits.too_few_addresses():
        return Diagnosis("addresses", "bad", f"limited by ulimit -v {(limit or 0) // 1024}", *found)
    seen = "without a limit" if limit is None else f"{limit / limits.GIB:.0f} GiB (ulimit -v)"
    return Diagnosis("addresses", "good", seen)


def files() -> Diagnosis:
    """Whether a process may have as many files open as Java needs (`ulimit -n`)."""
    if found := limits.too_few_files():
        return Diagnosis("open files", "bad", "limited by ulimit -Hn", *found)
    return Diagnosis("open files", "good", "enough for Java (ulimit -Hn)")


def not_tried() -> Diagnosis:
    """On what nobody has tried the course yet."""
    return Diagnosis("not tried here", "untried", UNTRIED)


def _windows(release: str) -> Diagnosis:
    if "wsl2" not in release and "standard" not in release:
        return Diagnosis(
            "system",
            "bad",
            "Windows Subsystem for Linux, version 1",
            "Brokers need a real Linux kernel.",
            "In PowerShell: wsl --set-version DISTRIBUTION 2",
        )
    return Diagnosis(
        "system",
        "note",
        "Windows Subsystem for Linux 2, on which the course was not tried",
        "127.0.0.1 of Windows and of Linux are two places: clients must run on the Linux side.",
        "Run ./course lab inside Linux and open the address it prints in a Windows browser.",
    )


def _name() -> str:
    """Such as `Debian 12 on x86-64`."""
    machine = platform.machine().replace("_", "-")
    if platform.system() == "Darwin":
        return f"macOS {platform.mac_ver()[0]} on {machine}"
    try:
        told = platform.freedesktop_os_release()
    except OSError:
        return f"{platform.system()} on {machine}"
    name = told.get("NAME", "Linux").removesuffix(" GNU/Linux")
    return f"{name} {told.get('VERSION_ID', '')}".strip() + f" on {machine}"


def repository() -> Path:
    """The folder of the course, without asking for anything that has to be installed."""
    return Path(__file__).resolve().parents[3]
