"""The pages of a folder that have a kernel, as the JupyterLabs of this machine list them."""

from __future__ import annotations

import contextlib
import json
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import psutil

# A proxy of this machine's is not for this machine's own servers.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class RunningPage:
    """A notebook with a kernel, as JupyterLab lists it. `tabs`: how many windows show it."""

    name: str
    kernel: str
    tabs: int


def found(work: Path) -> Iterator[RunningPage]:
    """The pages below this folder that have a kernel, of every JupyterLab that runs."""
    from jupyter_server.serverapp import list_running_servers

    for server in list_running_servers():
        if Path(server["root_dir"]).resolve() != work.resolve():
            continue
        # One may end at this moment, or be stuck; then there is nothing to tell of it.
        with contextlib.suppress(OSError, ValueError, KeyError):
            for session in _get(f"{server['url']}api/sessions", server["token"]):
                kernel = session["kernel"]
                name = PurePosixPath(session["path"]).name
                yield RunningPage(name, kernel["id"], kernel["connections"])


def kernel(page: RunningPage) -> psutil.Process | None:
    """The process of a kernel, which has the file of its connection in its command line."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(part.endswith(f"kernel-{page.kernel}.json") for part in process.cmdline()):
                return process
    return None


def memory(kernel: psutil.Process) -> str:
    """Of a kernel and all that it started on this machine."""
    total = 0
    with contextlib.suppress(psutil.Error):
        for process in [kernel, *kernel.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
    return f"{total / 1e9:.1f} GB of memory"


def _get(url: str, token: str) -> list[dict]:
    request = urllib.request.Request(url, headers={"Authorization": f"token {token}"})
    with OPENER.open(request, timeout=5) as answer:
        return json.load(answer)
