"""A real Kafka cluster, started in one line and broken on purpose in the next."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Mapping
from pathlib import Path

from kafkalab import clients, tables
from kafkalab.cluster import launch
from kafkalab.cluster.breakable import Breakable
from kafkalab.cluster.waited import WHILE_IT_STARTS
from kafkalab.engine import ToolResult
from kafkalab.engine.slot import Slot
from kafkalab.engine.watcher import Guard
from kafkalab.wait import WaitTimeout, wait_until

# The clusters that this process started and has not closed, by profile (and slot, where several).
_OPEN: dict[str, Cluster] = {}


class Cluster(Breakable):
    """Made by `Cluster.start` or `Cluster.attach`.

    A node is named by its id (a broker: 0, 1, 2) or by the name of its service ("controller").
    """

    def __init__(self, launched: launch.Launched) -> None:
        super().__init__(launched.description, launched.engine, launched.gateway)
        self.slot: Slot = launched.slot
        self.started_in = 0.0
        # Only who started a cluster holds its guard, and only the holder may end it.
        self._guard: Guard | None = launched.guard

    # --- Life ----------------------------------------------------------------------------------

    @classmethod
    def start(
        cls,
        profile: str,
        engine: str | None = None,
        settings: Mapping[str, object] | None = None,
        timeout: float = 60,
        beside: bool = False,
        gateway: bool = False,
    ) -> Cluster:
        """Start the cluster that docker-compose.yml describes under this name.

        `settings` are broker settings on top of the file's. Returns when every broker knows that
        all of them are there. A cluster of this profile that the same process started before (a
        cell that is run again) is closed first, unless the new one is to run `beside` it. With
        `gateway` what clients and nodes send passes through a gateway, which can be told to fail.
        With KAFKALAB_CLUSTER set, the running cluster that it names is used instead.
        """
        began = time.monotonic()
        chosen = {name: _property(value) for name, value in (settings or {}).items()}
        if record := os.environ.get("KAFKALAB_CLUSTER"):
            return cls(launch.attach(Path(record), profile, chosen, gateway))
        if profile in _OPEN and not beside:
            _OPEN[profile].close()
        for last in (False, False, True):
            cluster = cls(launch.start(profile, engine, chosen, gateway))
            _OPEN[f"{profile} in slot {cluster.slot.number}" if beside else profile] = cluster
            try:
                cluster._wait_for_start(timeout)
                break
            except launch.PortTaken as error:
                # Somebody took it after the slot found it free. The next slot has others.
                cluster.close()
                if last:
                    raise
                print(error.what)
            except BaseException:
                cluster.close()
                raise
        cluster.started_in = time.monotonic() - began
        return cluster

    @classmethod
    def attach(cls, where: str | Path | int) -> Cluster:
        """A cluster that another process started: its slot, its folder or its cluster.json."""
        return cls(launch.attach(where))

    def keep(self) -> None:
        """Let the cluster outlive this process, until `./course down`."""
        if self._guard is not None:
            launch.describe(self.slot, self.description, self.engine_name, self._guard, owner=None)
            self._guard.keep()
            self._guard = None
            self._leave()

    def close(self) -> None:
        """Stop everything that this cluster runs and forget its data. Safe to call twice.

        One that another process started is left alone.
        """
        if self.closed:
            return
        clients.close_all(self.addresses.values())
        self._leave()
        # Closed for other threads from here on: none of them may start a node again.
        engine, self._engine = self.engine, None
        if self._guard is None:
            return
        try:
            engine.down()
        except BaseException:
            self._engine = engine  # to be closed once more
            raise
        self._network.close()
        self._guard.dismiss()
        self.slot.release()

    def _leave(self) -> None:
        """No longer one of those that this process has to close."""
        for name in [name for name, cluster in _OPEN.items() if cluster is self]:
            del _OPEN[name]

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def engine_name(self) -> str:
        """`process` or `docker`."""
        return self.engine.name

    # --- Tools and logs ------------------------------------------------------------------------

    def tool(
        self,
        script: str,
        *arguments: str,
        stdin: bytes | str | None = None,
        timeout: float = 60,
    ) -> ToolResult:
        """Run a program of Kafka's bin folder; `{bootstrap}` stands for the brokers' addresses.

        What it returns is for the caller to judge: a non-zero exit does not raise.
        """
        data = stdin.encode() if isinstance(stdin, str) else stdin
        return self.engine.tool(script, list(map(str, arguments)), data, timeout)

    def logs(self, node: int | str, lines: int = 50) -> str:
        """The last lines that a node logged."""
        return self.engine.logs(self._service(node), lines)

    def state(self, node: int | str) -> str:
        """`running`, `paused`, `exited` or `absent`: the process, not what the cluster thinks."""
        return self.engine.state(self._service(node))

    def __repr__(self) -> str:
        if self.closed:
            return f"{self.profile} (closed)"
        count = len(self.brokers)
        ready = f"ready in {self.started_in:.1f} s" if self.started_in else "attached"
        return (
            f"{self.profile} on {count} broker{'' if count == 1 else 's'} at {self.address} "
            f"({self.engine_name} engine, slot {self.slot.number}, {ready})"
        )

    def _repr_html_(self) -> str:
        if self.closed:
            return tables.html(repr(self), ("broker",), [])
        services, states = self.description.brokers, self.engine.states()
        rows = [
            (
                broker,
                self.addresses[broker],
                services[broker].environment.get("KAFKA_BROKER_RACK"),
                states[services[broker].name],
            )
            for broker in self.brokers
        ]
        return tables.html(repr(self), ("broker", "address", "rack", "process"), rows)

    def _wait_for_start(self, timeout: float) -> None:
        """Like `wait_for_brokers`, but a node that has ended is named at once.

        That brokers answer is not enough. Where another cluster took a port a moment ago, it is
        the other one that answers; so each node must have logged that it has started.
        """
        wanted, deadline = set(self.brokers), time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            try:
                self._wait_for_agreement(
                    wanted, lambda alive: alive == wanted, min(left, 1), WHILE_IT_STARTS
                )
                break
            except WaitTimeout as late:
                launch.refuse_ended(self.engine)
                if left <= 1:
                    brokers = ", ".join(map(str, sorted(wanted)))
                    raise WaitTimeout(
                        f"Waited {timeout:g} s for the brokers {brokers} to start.",
                        late.why,
                        "Look for the cause: ./course doctor",
                    ) from late
        wait_until(
            lambda: launch.all_started(self.engine, self.description),
            timeout=max(deadline - time.monotonic(), 5),
            what="every node to say that it has started",
            every=0.02,
        )


def _property(value: object) -> str:
    """`True` is `true` in a properties file."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@atexit.register
def _close_all() -> None:
    for cluster in list(_OPEN.values()):
        cluster.close()


# A forked child holds neither the slots nor the pipes of its parent's clusters.
os.register_at_fork(after_in_child=_OPEN.clear)
