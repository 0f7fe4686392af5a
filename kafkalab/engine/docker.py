"""The Docker engine: the services of the Compose file in containers of Docker Compose."""

from __future__ import annotations

import json
import math
import tarfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from python_on_whales import DockerClient

from kafkalab import places
from kafkalab.engine import NetworkOfNodes, ToolResult, docker_files, local_tool, tools
from kafkalab.engine.compose import Service
from kafkalab.engine.docker_calls import nothing_begins_in, program_in
from kafkalab.engine.docker_command import Docker
from kafkalab.engine.docker_failures import WITHOUT_DOCKER
from kafkalab.engine.docker_override import override
from kafkalab.engine.docker_owned import (
    LABEL,
    OVERRIDE,
    clean,
    filters,
    foreign,
    remove_until_gone,
)
from kafkalab.engine.services import Services
from kafkalab.engine.slot import SlotInUse
from kafkalab.errors import CourseError
from kafkalab.gateway import routes
from kafkalab.wait import wait_until

__all__ = ["DockerEngine", "clean"]

PULL_DEADLINE = 1200
COPY_DEADLINE = 120
# A copy breaks off where the container is killed or started meanwhile, or the copy takes too long
# for who wants to freeze it.
COPIES = 5
# Docker's words for what a container does -> ours. One that was created and never ran is absent.
SERVICE = "com.docker.compose.service"
STATES = {"running": "running", "paused": "paused", "exited": "exited", "dead": "exited"}
ENDINGS = {
    137: "SIGKILL ended it. If nobody killed it, the machine or Docker had no memory left.",
    143: "SIGTERM ended it.",
}


def expect() -> None:
    """Docker and Docker Compose; an image that is missing is pulled when it is needed."""
    Docker(DockerClient(), {}).machine()


class DockerEngine(Services):
    """See `kafkalab.engine.Engine`."""

    name = "docker"

    def __post_init__(self) -> None:
        super().__post_init__()
        # Variable of docker-compose.yml -> port of this machine that leads into the container.
        self._ports = dict(self.slot.ports)
        if self.behind_gateway:
            known = {route.listen: route.target for route in routes.read(self.slot.folder)}
            self._ports = {
                name: known.get(port) or self.slot.internal_port(f"{name} behind the gateway")
                for name, port in self.slot.ports.items()
            }
        repository = places.repository()
        # Service -> its container and state when it was last looked for.
        self._seen: dict[str, tuple[str, str]] = {}
        self._docker = Docker(
            DockerClient(
                compose_files=[repository / "docker-compose.yml", self.slot.folder / OVERRIDE],
                compose_profiles=[self.description.profile],
                compose_project_name=self.slot.project,
                compose_project_directory=repository,
            ),
            self._ports,
        )

    def routes(self) -> list[routes.Route]:
        # Nodes meet in Docker's own network, where no gateway stands.
        targets = {port: self._ports[name] for name, port in self.slot.ports.items()}
        return [
            routes.Route(service.node, routes.CLIENTS, port.host, targets[port.host])
            for service in self.description.kafka
            for port in service.ports
        ]

    def up(self) -> None:
        machine = self._docker.machine()
        # A clean-up that found Docker stopped could not remove anything.
        remove_until_gone(self._docker, self.slot.folder)
        if foreign(self._docker, self.slot.project):
            raise SlotInUse(
                f"Docker has containers of another user under the name {self.slot.project}.",
                "Every user of this Docker engine has slots of their own, with the same names.",
                WITHOUT_DOCKER,
            )
        added = override(
            self.description.services,
            self.slot.folder,
            self.settings,
            behind_gateway=self._ports != self.slot.ports,
        )
        (self.slot.folder / OVERRIDE).write_text(json.dumps(added, indent=1))
        for image in dict.fromkeys(service.image for service in self.description.services):
            self._provide(image, machine)
        self._docker.compose("up", "--detach", "--no-build", timeout=120)

    def start(self, service: str) -> None:
        container, state = self._find(service)
        if state in ("running", "paused"):
            raise CourseError(f"{service} is running already.")
        if container:
            self._docker.run("start", container, timeout=60)
        else:
            self._docker.compose("up", "--detach", "--no-deps", "--no-build", service, timeout=120)

    def stop(self, service: str, timeout: float = 30) -> None:
        grace = math.ceil(timeout)
        self._docker.run("stop", "-t", grace, self._running(service), timeout=grace + 30)
        self._await_end(service)

    def kill(self, service: str) -> None:
        self._docker.run("kill", self._running(service))
        self._await_end(service)

    def pause(self, service: str) -> None:
        with nothing_begins_in(self.slot.folder, service):
            self._docker.run("pause", self._running(service))

    def resume(self, service: str) -> None:
        # A copy of a disk that stands still breaks off where the disk grows again.
        with nothing_begins_in(self.slot.folder, service):
            self._docker.run("unpause", self._running(service))

    @property
    def network_of_nodes(self) -> NetworkOfNodes:
        return self

    def disconnect(self, service: str) -> None:
        container, network = self._running(service), f"{self.slot.project}_default"
        if network in self._networks(container)[container]:
            self._docker.run("network", "disconnect", network, container)

    def connect(self, *services: str) -> None:
        # One that was killed comes back with its network, so here it need not run.
        network, found = f"{self.slot.project}_default", self._find_all()
        containers = {found[service][0]: service for service in services if found[service][0]}
        for container, networks in self._networks(*containers).items():
            if network not in networks:
                alias = containers[container]
                self._docker.run("network", "connect", "--alias", alias, network, container)

    def wipe(self, service: str) -> None:
        container, state = self._find(service)
        if state in ("running", "paused"):
            raise CourseError(
                f"{service} is running, and its disk is in use.", "", "Stop or kill it first."
            )
        if container:
            # Emptied in place: the container stays, and with it what it logged.
            paths = [volume.path for volume in self.description.service(service).volumes]
            empty = self._create_beside(container, "find", *paths, "-mindepth", "1", "-delete")
            self._docker.run("start", "--attach", empty, timeout=60)

    def state(self, service: str) -> str:
        return self._find(service)[1]

    def states(self) -> dict[str, str]:
        return {service: state for service, (_, state) in self._find_all().items()}

    def logs(self, service: str, lines: int = 50) -> str:
        container, state = self._find(service)
        if not container:
            return ""
        asked = self._docker.command("logs", "--tail", lines, container)
        said = self._docker.attempt(asked, timeout=30)
        text = (said.stdout + said.stderr).splitlines()
        if state == "exited":
            code = int(self._inspect(container, ".State.ExitCode"))
            text.append(f"{service} ended with exit code {code}. {ENDINGS.get(code, '')}".strip())
        return "\n".join(text[-lines:])

    def tool(
        self, script: str, arguments: Sequence[str], stdin: bytes | None, timeout: float
    ) -> ToolResult:
        tools.main_class(script)
        if self.behind_gateway:
            # In a container it would go past the gateway, where its requests are noted and held.
            bootstrap = ",".join(self.description.addresses.values())
            return local_tool.run(script, arguments, bootstrap, self.slot.folder, stdin, timeout)
        kafka, found = {s.name for s in self.description.kafka}, self._find_all()
        live = [name for name, (_, state) in found.items() if name in kafka and state == "running"]
        bootstrap = ",".join(
            _inside(service)
            for service in self.description.brokers.values()
            if service.name in live or not live
        )
        sent, files = docker_files.inbox(
            [argument.replace("{bootstrap}", bootstrap) for argument in arguments]
        )
        # The deadline of the call is ours; this one ends what would then go on in the container.
        limit = ("timeout", "-s", "KILL", str(math.ceil(timeout) + 1))
        command = (*limit, f"/opt/kafka/bin/{script.removesuffix('.sh')}.sh", *sent)
        beside: AbstractContextManager[None] = nullcontext()
        if live:
            container = found[live[0]][0]
            call = self._docker.command("exec", "--interactive", container, *command)
            beside = program_in(self.slot.folder, live[0])
        else:
            stopped = next((found[name][0] for name in found if found[name][0]), "")
            if not stopped:
                raise CourseError("The cluster was not started, so no tool can run in it.")
            container = self._create_beside(stopped, *command)
            call = self._docker.command("start", "--attach", "--interactive", container)
        if files:
            self._docker.run("cp", "-", f"{container}:{docker_files.INBOX}", stdin=files)
        with beside:
            said = self._docker.attempt(call, timeout, stdin or b"", what=script)
        if said.returncode and f"Container {container} is paused" in said.stderr:
            # Frozen since it was looked for, so the tool has not begun.
            return self.tool(script, arguments, stdin, timeout)
        return said

    def storage(self, service: str, part: str = "", indexes: bool = True) -> Path | None:
        # One that ran when it was last looked for most likely does: nothing comes where not.
        container, state = self._seen.get(service, ("", ""))
        guessed, before, broken = state == "running", "", 0
        while True:
            # Nobody freezes it or lets it go on between the look and the copy's end.
            with program_in(self.slot.folder, service):
                if not guessed:
                    container, state = self._find(service)
                if not container or state == "absent":
                    return None
                # In one that is as it was a moment ago nothing more is there.
                is_same, before = state == before, "" if guessed else state
                guessed = False
                try:
                    self._copy(container, service, state, part, indexes)
                except tarfile.ReadError as error:
                    broken += 1
                    if broken == COPIES:
                        raise CourseError(
                            f"The disk of {service} could not be copied.",
                            f"{broken} copies broke off. Python says of the last: {error}.",
                            "Is the machine very busy? Run the cell again.",
                        ) from error
                else:
                    folder = docker_files.own_copy(self.slot.folder, service)
                    if is_same or any(folder.iterdir()):
                        return folder if any(folder.iterdir()) else None

    def _copy(self, container: str, service: str, state: str, part: str, indexes: bool) -> None:
        """This thread's copy of a disk, or of a part of it."""
        folder = docker_files.own_copy(self.slot.folder, service)
        log_dirs = self.description.service(service).log_dirs
        for log_dir in map(Path, log_dirs):
            # Docker's own copy fails on a file that grows meanwhile, and tar cannot be run in a
            # container that stands still; each does what the other cannot.
            above, name = (log_dir, part) if part else (log_dir.parent, log_dir.name)
            source: tuple[str | Path, ...]
            if state == "running":
                without = () if indexes else ("--exclude", "*index")
                source = ("exec", container, "tar", "-C", above, *without, "-cf", "-", name)
            else:
                source = ("cp", f"{container}:{above / name}", "-")
            docker_files.copied(
                self._docker.command(*source),
                folder / log_dir.name if len(log_dirs) > 1 else folder,
                drop=0 if part else 1,
                timeout=COPY_DEADLINE,
                goes_on=lambda: self._find(service)[1] == state,
            )

    def down(self) -> None:
        # The data goes too, so there is nothing to end in good order for.
        remove_until_gone(self._docker, self.slot.folder)

    def _networks(self, *containers: str) -> dict[str, list[str]]:
        """The names of the networks of each container, all asked for in one call."""
        if not containers:
            return {}
        form = "{{json .NetworkSettings.Networks}}"
        told = self._docker.run("container", "inspect", "--format", form, *containers)
        names = [list(json.loads(line)) for line in told.splitlines()]
        return dict(zip(containers, names, strict=True))

    def _provide(self, image: str, machine: str) -> None:
        """Pull an image that is missing; refuse one for another processor."""
        asked = self._docker.command("image", "inspect", "--format", "{{.Os}}/{{.Architecture}}")
        found = self._docker.attempt([*asked, image], timeout=30)
        if found.returncode:
            print(f"Docker pulls {image}. It does so once, and it can take minutes.", flush=True)
            self._docker.run("pull", "--quiet", image, timeout=PULL_DEADLINE)
            found = self._docker.attempt([*asked, image], timeout=30)
        if (kind := found.stdout.strip()) != machine:
            raise CourseError(
                f"The image {image} is made for {kind}, and Docker runs on {machine}.",
                "It would be emulated, which is too slow for a cluster.",
                f"Replace it: docker pull --platform {machine} {image}",
            )

    def _find(self, service: str) -> tuple[str, str]:
        """The container of a service ("" where there is none) and its state in our words."""
        self.description.service(service)
        return self._find_all(f"{SERVICE}={service}")[service]

    def _find_all(self, *labels: str) -> dict[str, tuple[str, str]]:
        """The same for every service, or for those with these labels, in one call of docker."""
        form = f'{{{{.ID}}}} {{{{.State}}}} {{{{.Label "{SERVICE}"}}}}'
        listed = self._docker.run(
            *("container", "ls", "--all", "--no-trunc", "--format", form),
            *filters(self.slot.folder, *labels),
        )
        # The newest comes first. The container of a tool is of no service.
        found = {service.name: ("", "absent") for service in self.description.services}
        for line in reversed(listed.splitlines()):
            container, state, *service = line.split()
            if service and service[0] in found:
                found[service[0]] = container, STATES.get(state, "absent")
        self._seen |= found
        return found

    def _running(self, service: str) -> str:
        container, state = self._find(service)
        if state not in ("running", "paused"):
            raise CourseError(f"{service} is not running.")
        return container

    def _await_end(self, service: str) -> None:
        wait_until(lambda: self.state(service) == "exited", timeout=30, what=f"{service} to end")

    def _inspect(self, container: str, field: str) -> str:
        form = f"{{{{{field}}}}}"
        return self._docker.run("container", "inspect", "--format", form, container).strip()

    def _create_beside(self, container: str, *command: str) -> str:
        """A container with the same image, network and volumes; gone once its command has ended."""
        return self._docker.run(
            *("create", "--rm", "--interactive", "--label", f"{LABEL}={self.slot.folder}"),
            *("--network", f"{self.slot.project}_default", "--volumes-from", container),
            self._inspect(container, ".Image"),
            *command,
        ).strip()


def _inside(service: Service) -> str:
    """A broker's address for those in the network of the containers."""
    listener = f"{service.environment['KAFKA_INTER_BROKER_LISTENER_NAME']}://"
    advertised = service.environment["KAFKA_ADVERTISED_LISTENERS"].split(",")
    return next(
        address.removeprefix(listener) for address in advertised if address.startswith(listener)
    )
