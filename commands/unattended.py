"""What still runs though nobody has it open: kernels without a tab, and their clusters."""

from __future__ import annotations

import contextlib
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import psutil

from kafkalab.cluster import inventory
from kafkalab.cluster.inventory import Running

HOW = "  End it: on the left, Running Terminals and Kernels, then the cross beside its name."
# A proxy of this machine's is not for this machine's own servers.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class RunningPage:
    """A notebook with a kernel, as JupyterLab lists it. `tabs`: how many windows show it."""

    name: str
    kernel: str
    tabs: int


class News:
    """Tells of each page once, when nobody has had it open at two looks in a row.

    At the first look once is enough: those pages belong to a JupyterLab that was there before.
    """

    def __init__(self, work: Path) -> None:
        self._work = work
        self._closed: dict[str, int] = {}
        self._is_first = True

    def look(self) -> list[str]:
        """What to say now; nothing where there is no news."""
        pages = list(open_pages(self._work))
        enough = 1 if self._is_first else 2
        closed = [page for page in pages if not page.tabs]
        self._closed = {page.kernel: self._closed.get(page.kernel, 0) + 1 for page in closed}
        new = [page for page in closed if self._closed[page.kernel] == enough]
        for page in closed if self._is_first else []:
            self._closed[page.kernel] = 2  # told
        sentences = [sentence for page in new for sentence in _of_page(page)]
        if self._is_first:
            sentences += [_of_cluster(one) for one in inventory.clusters() if one.kept]
        self._is_first = False
        return sentences


def open_pages(work: Path) -> Iterator[RunningPage]:
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


def answers(url: str) -> bool:
    """Whether a server answers, with whatever it answers."""
    try:
        with _OPENER.open(url, timeout=5):
            return True
    except urllib.error.HTTPError:
        return True


def _get(url: str, token: str) -> list[dict]:
    request = urllib.request.Request(url, headers={"Authorization": f"token {token}"})
    with _OPENER.open(request, timeout=5) as answer:
        return json.load(answer)


def _of_page(page: RunningPage) -> Iterator[str]:
    kernel = _kernel(page.kernel)
    own = [one for one in inventory.clusters() if kernel and one.owner == kernel.pid]
    clusters = [f"its cluster {one.profile} in slot {one.slot}" for one in own]
    parts = ", ".join([*clusters, *([_memory(kernel)] if kernel else [])])
    yield f"{page.name} runs without an open tab{f' ({parts})' if parts else ''}."
    yield HOW
    for one in own:
        yield f"  Its cluster alone: ./course down --slot {one.slot}"


def _of_cluster(cluster: Running) -> str:
    minutes = (time.time() - cluster.since) / 60
    return (
        f"A cluster of ./course up runs for {minutes:.0f} minutes: {cluster.profile} in slot "
        f"{cluster.slot}. End it: ./course down --slot {cluster.slot}"
    )


def _kernel(number: str) -> psutil.Process | None:
    """The process of a kernel, which has the file of its connection in its command line."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(part.endswith(f"kernel-{number}.json") for part in process.cmdline()):
                return process
    return None


def _memory(kernel: psutil.Process) -> str:
    """Of a kernel and all that it started on this machine."""
    total = 0
    with contextlib.suppress(psutil.Error):
        for process in [kernel, *kernel.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
    return f"{total / 1e9:.1f} GB of memory"
