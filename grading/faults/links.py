"""To which ports a process is connected, also in a sandbox with a network of its own."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil

PROC = Path("/proc")
ESTABLISHED = "01"  # as Linux numbers it


def ports_of(process: psutil.Process) -> set[int]:
    """The ports at the other ends of its TCP connections; none where nobody may look."""
    try:
        if (PROC / "self/net/tcp").exists():
            return _linux(PROC / str(process.pid))
        links = process.net_connections("tcp")
        return {one.raddr.port for one in links if one.status == psutil.CONN_ESTABLISHED}
    except (OSError, psutil.Error):
        return set()


def _linux(process: Path) -> set[int]:
    """psutil looks at the network of the process that asks; the system keeps each one's own."""
    sockets = set()
    for each in (process / "fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            sockets.add(str(each.readlink()))
    found = set()
    for kind in ("tcp", "tcp6"):
        with suppress(FileNotFoundError):
            for line in (process / "net" / kind).read_text("ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == ESTABLISHED and f"socket:[{fields[9]}]" in sockets:
                    found.add(int(fields[2].rpartition(":")[2], 16))
    return found
