"""Which clusters run on this machine, and how to end one that is not our own."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from kafkalab import engine
from kafkalab.engine import slot
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until


@dataclass(frozen=True)
class Running:
    """What a slot's cluster.json says. `owner` is None for a cluster that `up` started.

    `by` names the owner for a person: a notebook, or a program.
    """

    slot: int
    profile: str
    engine: str
    addresses: dict[str, str]
    owner: int | None
    watcher: int | None
    since: float
    folder: Path
    held: bool
    by: str = ""

    @property
    def address(self) -> str:
        """What a client takes as `bootstrap_servers`."""
        return ",".join(self.addresses.values())

    @property
    def kept(self) -> bool:
        """Whether it was started to live without an owner."""
        return self.held and self.owner is None

    @property
    def holder(self) -> str:
        """Who has it, in a person's words."""
        if not self.held:
            return "a leftover that nobody holds"
        if self.owner is None:
            return "by ./course up"
        return f"by {self.by} (process {self.owner})" if self.by else f"by process {self.owner}"

    @property
    def record(self) -> Path:
        """The file that `Cluster.attach` and KAFKALAB_CLUSTER take."""
        return self.folder / "cluster.json"


def clusters() -> list[Running]:
    """Every cluster of this user, those included whose owner and watcher have died."""
    return [_running(facts) for facts in slot.records()]


def choose(
    number: int | None = None, profile: str | None = None, by: str = "--slot NUMBER"
) -> Running:
    """The one cluster that is meant. `by`: what the user writes to say which, if there are more."""
    found = [
        cluster
        for cluster in clusters()
        if number in (None, cluster.slot) and profile in (None, cluster.profile)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise CourseError("No such cluster is running.", "", "See what is: ./course status")
    raise CourseError(
        "Several clusters are running.",
        "; ".join(f"slot {one.slot}: {one.profile} at {one.address}" for one in found),
        f"Say which one with {by}.",
    )


def end(cluster: Running) -> None:
    """Stop everything of a cluster and free its slot, whoever started it."""
    watcher = _watcher(cluster)
    if watcher is not None:
        # It holds the slot's lock and knows how to clean up.
        watcher.terminate()
        wait_until(
            lambda: not cluster.folder.exists() or _watcher(cluster) is None,
            timeout=120,
            what=f"the cluster in slot {cluster.slot} to end",
        )
    # Nobody watches over it, or who did could not clean up and told nobody.
    if cluster.folder.exists():
        engine.clean(cluster.folder)
        shutil.rmtree(cluster.folder, ignore_errors=True)


def _watcher(cluster: Running) -> psutil.Process | None:
    """The cluster's watcher, if that is still what runs under its number."""
    if cluster.watcher is not None:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(cluster.watcher)
            if process.cmdline()[-2:] == ["kafkalab.engine.watcher", str(cluster.folder)]:
                return process
    return None


def _running(facts: dict[str, Any]) -> Running:
    return Running(
        slot=facts["slot"],
        profile=facts.get("profile", "starting"),
        engine=facts.get("engine", ""),
        addresses=facts.get("addresses", {}),
        owner=facts.get("owner"),
        watcher=facts.get("watcher"),
        since=facts.get("since", 0.0),
        folder=Path(facts["folder"]),
        held=facts["held"],
        by=facts.get("by", ""),
    )
