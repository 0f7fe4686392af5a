"""What runs the services of a cluster: one protocol, two implementations.

`process` runs them as local processes, `docker` through Docker Compose. Both work from the same
description, so a lesson cannot tell them apart except by asking.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kafkalab.engine.compose import Description
from kafkalab.engine.slot import Slot
from kafkalab.errors import CourseError
from kafkalab.gateway.routes import Route

ENGINES = {
    "process": ("kafkalab.engine.process", "ProcessEngine"),
    "docker": ("kafkalab.engine.docker", "DockerEngine"),
}
IN_A_SANDBOX = {"door": ("kafkalab.engine.door", "DoorEngine")}
"""Nobody chooses it: the grader writes it into the record that it leaves in a sandbox."""


@dataclass(frozen=True)
class ToolResult:
    """What a program of the Kafka distribution wrote and returned."""

    returncode: int
    stdout: str
    stderr: str

    def __str__(self) -> str:
        return self.stdout if self.returncode == 0 else self.stdout + self.stderr


class NetworkOfNodes(Protocol):
    """A network in which the nodes reach each other and no gateway stands."""

    def disconnect(self, service: str) -> None:
        """Take a service off the network of the nodes; clients still reach it."""

    def connect(self, *services: str) -> None:
        """Undo `disconnect`; nothing happens where there is nothing to undo."""


class Engine(Protocol):
    """Constructed as `(description, slot, settings, behind_gateway)`.

    `settings` are extra broker settings, by their names in server.properties, for every Kafka
    service of this start. With `behind_gateway` the nodes listen elsewhere than they say, and a
    gateway must carry what `routes` tells. A module of an engine also offers
    `clean(folder: Path) -> None`, which ends everything that a dead owner left of the slot with
    that folder and must not fail when there is nothing, and `expect() -> None`, see below.
    """

    name: str

    def routes(self) -> list[Route]:
        """What a gateway has to carry: as much of the traffic as the engine can lead through it."""

    def up(self) -> None:
        """Start every service of the profile. Returns without waiting for Kafka."""

    def start(self, service: str) -> None:
        """Start a service that is down, with the data it had."""

    def stop(self, service: str, timeout: float = 30) -> None:
        """SIGTERM (a controlled shutdown), SIGKILL at the deadline. Returns when it is gone."""

    def kill(self, service: str) -> None:
        """SIGKILL. Returns when it is gone; works on a paused service too."""

    def pause(self, service: str) -> None:
        """Freeze every thread of the service; its sockets stay open."""

    def resume(self, service: str) -> None:
        """Undo `pause`."""

    @property
    def network_of_nodes(self) -> NetworkOfNodes | None:
        """None where `routes` leads the traffic between the nodes through a gateway too."""

    def wipe(self, service: str) -> None:
        """Forget the disk of a service that is down."""

    def state(self, service: str) -> str:
        """`running`, `paused`, `exited` (ran before) or `absent` (never ran)."""

    def states(self) -> dict[str, str]:
        """Every service -> its state, asked for at once."""

    def logs(self, service: str, lines: int = 50) -> str:
        """The last lines that the service wrote."""

    def tool(
        self, script: str, arguments: Sequence[str], stdin: bytes | None, timeout: float
    ) -> ToolResult:
        """Run a script of /opt/kafka/bin, named without `.sh`.

        `{bootstrap}` in an argument becomes the address that is right where the tool runs.
        """

    def storage(self, service: str, part: str = "", indexes: bool = True) -> Path | None:
        """A folder of this machine with the service's log folders, to read; None where absent.

        `part` names the folder of a partition when nothing else is wanted: an engine that has to
        copy the disk copies no more than that. Without `indexes` it may leave these out, 20 MB
        for every partition.
        """

    def down(self) -> None:
        """Stop everything and remove all data. Safe to call twice. The slot stays taken."""


def chosen(name: str | None = None) -> str:
    """The engine to use: the argument, else KAFKALAB_ENGINE, else processes."""
    name = name or os.environ.get("KAFKALAB_ENGINE") or "process"
    if name not in ENGINES:
        raise CourseError(
            f"There is no engine called {name!r}.", f"There are {' and '.join(ENGINES)}."
        )
    return name


def build(
    name: str,
    description: Description,
    slot: Slot,
    settings: dict[str, str] | None = None,
    behind_gateway: bool = False,
) -> Engine:
    """The engine of this name; a CourseError where it cannot run what is described."""
    module, kind = (ENGINES | IN_A_SANDBOX)[name]
    made = getattr(importlib.import_module(module), kind)
    return made(description, slot, settings or {}, behind_gateway)


def expect(name: str) -> None:
    """A CourseError where what an engine needs on this machine is not there. Starts nothing."""
    importlib.import_module(ENGINES[name][0]).expect()


def clean(folder: Path) -> None:
    """End what a dead owner left of the slot with this folder, whichever engine ran it."""
    try:
        name = (folder / "engine").read_text().strip()
    except FileNotFoundError:
        return
    if not name:
        return  # its owner died before it had started anything
    importlib.import_module(ENGINES[name][0]).clean(folder)
