"""The process engine: each service of the Compose file as a process of this machine.

A service's container becomes a folder of the slot. `server.properties` is written once, by `up`;
a later start reads it again, also when another process than the owner starts the service.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psutil

from kafkalab import environment
from kafkalab.engine import ToolResult, java_command, local_tool, storage
from kafkalab.engine import properties as property_files
from kafkalab.engine.compose import Service
from kafkalab.engine.marked import clean, end_all
from kafkalab.engine.services import Services
from kafkalab.errors import CourseError
from kafkalab.files import write_whole
from kafkalab.gateway.routes import Route
from kafkalab.java.jars import jars
from kafkalab.java.runtime import java
from kafkalab.wait import WaitTimeout, wait_until

__all__ = ["ProcessEngine", "clean"]

IMAGE = "apache/kafka"


def expect() -> None:
    """Java and Kafka's jars, which `./course setup` brings."""
    java()
    jars("kafka")


class ProcessEngine(Services):
    """See `kafkalab.engine.Engine`."""

    name = "process"
    network_of_nodes = None

    def __post_init__(self) -> None:
        super().__post_init__()
        # Our own children: polling them is what makes the system forget the dead ones.
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        for service in self.description.services:
            if not service.image.startswith(f"{IMAGE}:") or service.command:
                raise CourseError(
                    f"The service {service.name} cannot run as a process of this machine.",
                    f"The process engine knows {IMAGE}, not {service.image}"
                    f"{' with a command of its own' if service.command else ''}.",
                    "Use the Docker engine: export KAFKALAB_ENGINE=docker",
                )

    def up(self) -> None:
        # Controllers first: a broker that finds none waits before it asks again.
        for service in sorted(self.description.services, key=lambda s: "broker" in s.roles):
            self._prepare(service)
            self.start(service.name)

    def routes(self) -> list[Route]:
        return [
            Route(
                service.node,
                between,
                self._port(service.name, port),
                self._bind(service.name, port),
            )
            for service in self.description.kafka
            for between, port in service.listening
        ]

    def start(self, service: str) -> None:
        if self.state(service) in ("running", "paused"):
            raise CourseError(f"{service} is running already.")
        described = self.description.service(service)
        folder = self._folder(service)
        file = folder / "server.properties"
        properties = property_files.read(file.read_text())
        storage.format_disk(properties, described.environment["CLUSTER_ID"])
        purpose = "broker" if "broker" in described.roles else "controller"
        command = java_command.node(
            self.slot.folder, service, described.environment, purpose, file, folder / "kafka.log"
        )
        with (folder / "output.log").open("ab") as output:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment.for_java(),
                # Ctrl-C and a kernel's interrupt are for the owner, not for its brokers.
                start_new_session=True,
            )
        self._children[child.pid] = child
        with contextlib.suppress(psutil.NoSuchProcess):
            created = psutil.Process(child.pid).create_time()
            # Others may look for it at this moment.
            write_whole(folder / "process.json", json.dumps([child.pid, created]))

    def stop(self, service: str, timeout: float = 30) -> None:
        process = self._running(service)
        process.terminate()
        process.resume()  # a paused one hears SIGTERM only now
        try:
            self._await_end(process, service, timeout)
        except WaitTimeout:
            # Without a controller to hand its leaders over to, a broker does not end by itself.
            process.kill()
            self._await_end(process, service, 10)

    def kill(self, service: str) -> None:
        process = self._running(service)
        process.kill()
        self._await_end(process, service, 10)

    def pause(self, service: str) -> None:
        process = self._running(service)
        process.suspend()
        wait_until(
            lambda: self.state(service) == "paused", timeout=5, what=f"{service} to stand still"
        )

    def resume(self, service: str) -> None:
        self._running(service).resume()
        wait_until(
            lambda: self.state(service) == "running", timeout=5, what=f"{service} to run again"
        )

    def wipe(self, service: str) -> None:
        if self.state(service) in ("running", "paused"):
            raise CourseError(
                f"{service} is running, and its disk is in use.", "", "Stop or kill it first."
            )
        for folder in self._disks(self.description.service(service)):
            shutil.rmtree(folder, ignore_errors=True)

    def state(self, service: str) -> str:
        self.description.service(service)
        if not (self._folder(service) / "process.json").exists():
            return "absent"
        process = self._process(service)
        if process is None:
            return "exited"
        try:
            return "paused" if process.status() == psutil.STATUS_STOPPED else "running"
        except psutil.NoSuchProcess:  # it was alive a moment ago
            return "exited"

    def states(self) -> dict[str, str]:
        return {service.name: self.state(service.name) for service in self.description.services}

    def logs(self, service: str, lines: int = 50) -> str:
        self.description.service(service)
        found: list[str] = []
        # What the JVM itself says (it could not start, it ran out of memory) comes last.
        for name in ("kafka.log", "output.log"):
            file = self._folder(service) / name
            if file.exists():
                found += file.read_text(errors="replace").splitlines()
        # Its remarks on what libraries may do are not among that, and cannot be switched off: the
        # option for it would keep Java from using the archive of classes.
        told = [line for line in found if line and not line.startswith("WARNING: ")]
        return "\n".join(told[-lines:])

    def tool(
        self, script: str, arguments: Sequence[str], stdin: bytes | None, timeout: float
    ) -> ToolResult:
        bootstrap = ",".join(self.description.addresses.values())
        return local_tool.run(script, arguments, bootstrap, self.slot.folder, stdin, timeout)

    def storage(self, service: str, part: str = "", indexes: bool = True) -> Path | None:
        if not (self._folder(service) / "server.properties").exists():
            return None
        folders = self._disks(self.description.service(service))
        common = Path(os.path.commonpath(folders)) if len(folders) > 1 else folders[0]
        return common if common.exists() else None

    def down(self) -> None:
        # The data goes too, so there is nothing to end in good order for.
        for child in self._children.values():
            child.kill()
            child.wait()
        # What another process started here, or a tool that still runs.
        end_all(self.slot.folder, rounds=1)
        self._children.clear()
        for service in self.description.services:
            shutil.rmtree(self._folder(service.name), ignore_errors=True)
        shutil.rmtree(self.slot.folder / "volumes", ignore_errors=True)

    def _prepare(self, service: Service) -> None:
        properties = property_files.translate(service.environment)
        if self.behind_gateway:
            properties = property_files.advertise_all(properties, service)
        properties = property_files.localise(
            properties,
            service,
            names=frozenset(other.name for other in self.description.services),
            port=self._port,
            bind=self._bind,
            folder=lambda text: self._replace_paths(service, text),
        )
        folder = self._folder(service.name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "server.properties").write_text(property_files.write(properties))

    def _bind(self, service: str, port: int) -> int:
        """Where a node listens on 127.0.0.1: at a port of its own behind a gateway."""
        if self.behind_gateway:
            return self.slot.internal_port(f"{service}:{port} behind the gateway")
        return self._port(service, port)

    def _port(self, service: str, port: int) -> int:
        """Where others reach a port of a service's container on 127.0.0.1."""
        for published in self.description.service(service).ports:
            if published.container == port:
                return published.host
        return self.slot.internal_port(f"{service}:{port}")

    def _replace_paths(self, service: Service, text: str) -> str:
        """Container paths in a value -> folders of the slot."""
        for volume in sorted(service.volumes, key=lambda v: -len(v.path)):
            text = text.replace(volume.path, str(self.slot.folder / "volumes" / volume.name))
        return text

    def _disks(self, service: Service) -> list[Path]:
        properties = property_files.read(
            (self._folder(service.name) / "server.properties").read_text()
        )
        return [Path(folder) for folder in properties["log.dirs"].split(",")]

    def _folder(self, service: str) -> Path:
        return self.slot.folder / service

    def _process(self, service: str) -> psutil.Process | None:
        """The living process of a service; None where it has ended."""
        with contextlib.suppress(FileNotFoundError):
            pid, created = json.loads((self._folder(service) / "process.json").read_text())
            child = self._children.get(pid)
            if child is not None and child.poll() is not None:
                return None
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                if process.create_time() == created and not _has_ended(process):
                    return process
        return None

    def _running(self, service: str) -> psutil.Process:
        self.description.service(service)
        process = self._process(service)
        if process is None:
            raise CourseError(f"{service} is not running.")
        return process

    def _await_end(self, process: psutil.Process, service: str, timeout: float) -> None:
        wait_until(
            lambda: self._process(service) is None,
            timeout=timeout,
            what=f"{service} (pid {process.pid}) to end",
            every=0.01,
        )


def _has_ended(process: psutil.Process) -> bool:
    """Dead and only waiting for its parent to notice.

    A JVM has many threads. While the last of them end, the process counts as dead already, and
    still holds its port.
    """
    return process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1
