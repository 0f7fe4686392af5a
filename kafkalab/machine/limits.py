"""Limits that are not the machine's own: of a shell (`ulimit`), of a container."""

from __future__ import annotations

import contextlib
import resource
from pathlib import Path

GIB = 1024**3
# Java reserves addresses for heap, classes and compiled code, far more than it will use. At 6 GiB
# Spark started, at 3 GiB it ended without a word.
ADDRESSES = 8 * GIB
# Spark has some 300 jars open. At 256 files it ended with a class that it could not find.
FILES = 1024
GROUPS = Path("/sys/fs/cgroup")
# What stands for "no limit" in the older kind of groups: all addresses, less a page.
UNLIMITED = 1 << 60


def address_space() -> int | None:
    """How many bytes of addresses a process may have (`ulimit -v`); None without a limit."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def too_few_addresses() -> tuple[str, str] | None:
    """Why Java may not start under the limit of this process, and what mends it."""
    limit = address_space()
    if limit is None or limit >= ADDRESSES:
        return None
    return (
        f"A process may have {limit / GIB:.1f} GiB of addresses here (ulimit -v says "
        f"{limit // 1024}). Java reserves more than it uses and may need {ADDRESSES // GIB} GiB.",
        "Take the limit away in the shell that starts the course: ulimit -v unlimited. If it "
        "refuses, ask whoever looks after this machine.",
    )


def too_few_files() -> tuple[str, str] | None:
    """Why Java may not start with so few open files (`ulimit -n`), and what mends it.

    The limit that counts is the one that nobody may pass: Java raises the other one up to it.
    """
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if limit == resource.RLIM_INFINITY or limit >= FILES:
        return None
    return (
        f"A process may have {limit} files open here (ulimit -Hn says so). Java may need {FILES}.",
        f"Raise the limit in the shell that starts the course: ulimit -n {FILES}. If it refuses, "
        "ask whoever looks after this machine.",
    )


def too_tight() -> tuple[str, str] | None:
    """What may have kept Java from starting, and what mends it."""
    return too_few_addresses() or too_few_files()


def of_group(own: Path = Path("/proc/self/cgroup"), groups: Path = GROUPS) -> int | None:
    """How much memory the container or the session may still take; None without a limit.

    `own` says in which group of `groups` this process is. The limit of each group above it holds
    too, and the least room counts.
    """
    left = []
    with contextlib.suppress(OSError):
        for line in own.read_text("utf-8").splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds in ("", "memory"):
                left += _room_in(groups / kinds, path)
    return min(left, default=None)


def _room_in(top: Path, path: str) -> list[int]:
    """What is left in each group on the way from `path` up to `top`."""
    folder = top / path.strip("/")
    found = []
    # In a container the path may be the one outside, of which only the top is in sight.
    for group in dict.fromkeys([folder, *folder.parents, top]):
        if group != top and top not in group.parents:
            continue
        for limit, used in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            with contextlib.suppress(OSError, ValueError):
                allowed = int((group / limit).read_text("utf-8"))
                if allowed < UNLIMITED:
                    taken = int((group / used).read_text("utf-8"))
                    found.append(max(allowed - taken + _cached(group), 0))
    return found


def _cached(group: Path) -> int:
    """Pages of files count as used, and are given back when somebody wants memory."""
    with contextlib.suppress(OSError, ValueError):
        for line in (group / "memory.stat").read_text("utf-8").splitlines():
            name, _, value = line.partition(" ")
            if name in ("inactive_file", "total_inactive_file"):
                return int(value)
    return 0
