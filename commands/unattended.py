"""What still runs though nobody has it open: kernels without a tab, and their clusters."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from kafkalab.cluster import inventory
from kafkalab.cluster.inventory import Running
from kafkalab.notebook import running_pages
from kafkalab.notebook.running_pages import OPENER, RunningPage

HOW = "  End it: on the left, Running Terminals and Kernels, then the cross beside its name."


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
        pages = list(running_pages.found(self._work))
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


def answers(url: str) -> bool:
    """Whether a server answers, with whatever it answers."""
    try:
        with OPENER.open(url, timeout=5):
            return True
    except urllib.error.HTTPError:
        return True


def _of_page(page: RunningPage) -> Iterator[str]:
    kernel = running_pages.kernel(page)
    own = [one for one in inventory.clusters() if kernel and one.owner == kernel.pid]
    clusters = [f"its cluster {one.profile} in slot {one.slot}" for one in own]
    parts = ", ".join([*clusters, *([running_pages.memory(kernel)] if kernel else [])])
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
