"""A real Kafka cluster, started in one line and broken on purpose in the next."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Iterable
from types import TracebackType

from kafkalab import compose, engine
from kafkalab.compose import Description
from kafkalab.engine import Engine, ToolResult
from kafkalab.engine.watcher import Guard
from kafkalab.errors import CourseError
from kafkalab.slot import Slot
from kafkalab.wait import wait_until

_OPEN: dict[str, Cluster] = {}


class Cluster:
    """Made by `Cluster.start` or `Cluster.attach`."""

    def __init__(
        self,
        description: Description,
        running: Engine,
        slot: Slot,
        guard: Guard | None,
        started_in: float,
    ) -> None:
        self.description = description
        self.engine = running
        self.slot = slot
        self.started_in = started_in
        self._guard = guard

    @classmethod
    def start(
        cls,
        profile: str,
        engine: str | None = None,
        settings: dict[str, str] | None = None,
        timeout: float = 60,
    ) -> Cluster:
        """Start the cluster that docker-compose.yml describes under this name.

        When the same process started one of this profile before (a cell that is run again), that
        one is closed first. Returns when every broker knows that all of them are there.
        """
        began = time.monotonic()
        if profile in _OPEN:
            _OPEN[profile].close()
        cluster = _launch(profile, engine, settings or {})
        try:
            cluster.wait_for_brokers(timeout=timeout)
        except BaseException:
            cluster.close()
            raise
        cluster.started_in = time.monotonic() - began
        return cluster

    @property
    def profile(self) -> str:
        return self.description.profile

    @property
    def engine_name(self) -> str:
        return self.engine.name

    @property
    def brokers(self) -> list[int]:
        """The ids of the brokers that the profile describes, alive or not."""
        return sorted(self.description.brokers)

    @property
    def addresses(self) -> dict[int, str]:
        return self.description.addresses

    @property
    def address(self) -> str:
        """What a client takes as `bootstrap_servers`."""
        return ",".join(self.addresses.values())

    def stop(self, node: int | str) -> None:
        self.engine.stop(self._service(node))

    def kill(self, node: int | str) -> None:
        self.engine.kill(self._service(node))

    def pause(self, node: int | str) -> None:
        self.engine.pause(self._service(node))

    def resume(self, node: int | str) -> None:
        self.engine.resume(self._service(node))

    def wipe(self, node: int | str) -> None:
        self.engine.wipe(self._service(node))

    def restart(self, node: int | str, timeout: float = 60) -> None:
        service = self._service(node)
        if self.engine.state(service) in ("running", "paused"):
            self.engine.stop(service)
        self.engine.start(service)
        described = self.description.service(service)
        if "broker" in described.roles:
            self.wait_for_brokers([described.node], timeout)

    def wait_for_brokers(self, ids: Iterable[int] | None = None, timeout: float = 30) -> None:
        """Until every one of these brokers is unfenced and knows that the others are."""
        from kafkalab import wire

        wanted = set(self.brokers if ids is None else ids)
        missing = dict.fromkeys(wanted, "no answer yet")

        def all_know() -> bool:
            for broker in list(missing):
                try:
                    alive = set(wire.brokers(wire.metadata(self.addresses[broker], [], timeout=1)))
                except (CourseError, OSError, EOFError) as error:
                    missing[broker] = str(error).splitlines()[0]
                    continue
                if wanted <= alive:
                    del missing[broker]
                else:
                    missing[broker] = f"knows only {sorted(alive)}"
            return not missing

        wait_until(
            all_know,
            timeout=timeout,
            what=f"brokers {sorted(wanted)}",
            seen=lambda: "; ".join(f"broker {b}: {why}" for b, why in missing.items()),
            every=0.02,
        )

    def tool(
        self, script: str, *arguments: str, stdin: bytes | None = None, timeout: float = 60
    ) -> ToolResult:
        return self.engine.tool(script, arguments, stdin, timeout)

    def logs(self, node: int | str, lines: int = 50) -> str:
        return self.engine.logs(self._service(node), lines)

    def close(self) -> None:
        """Stop everything this cluster runs and forget its data. Safe to call twice."""
        if _OPEN.get(self.profile) is self:
            del _OPEN[self.profile]
        if self._guard is not None:
            self.engine.down()
            self._guard.dismiss()
            self.slot.release()
            self._guard = None

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return (
            f"{self.profile} on {len(self.brokers)} brokers at {self.address} "
            f"({self.engine_name} engine, slot {self.slot.number}, "
            f"ready in {self.started_in:.1f} s)"
        )

    def _service(self, node: int | str) -> str:
        """A broker id or the name of a service -> the name of the service."""
        if isinstance(node, str):
            return self.description.service(node).name
        for service in self.description.kafka:
            if service.node == node:
                return service.name
        raise CourseError(
            f"The profile {self.profile} has no node {node}.", f"Its brokers are {self.brokers}."
        )


def _launch(profile: str, engine_name: str | None, settings: dict[str, str]) -> Cluster:
    name = engine.chosen(engine_name)
    slot = Slot.take(compose.published(profile), engine.clean)
    guard = None
    try:
        (slot.folder / "engine").write_text(name)
        guard = Guard(slot)
        description = compose.read(profile, slot.ports)
        running = engine.build(name, description, slot, settings)
        slot.describe(
            {
                "profile": profile,
                "engine": name,
                "addresses": description.addresses,
                "owner": os.getpid(),
                "watcher": guard.pid,
                "since": time.time(),
                "ports": slot.ports,
                "settings": settings,
            }
        )
        running.up()
    except BaseException:
        engine.clean(slot.folder)
        if guard is not None:
            guard.dismiss()
        slot.release()
        raise
    cluster = Cluster(description.with_settings(settings), running, slot, guard, 0)
    _OPEN[profile] = cluster
    return cluster


@atexit.register
def _close_all() -> None:
    for cluster in list(_OPEN.values()):
        cluster.close()
