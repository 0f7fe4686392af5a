"""Read `docker-compose.yml` into plain records. Nothing here starts a process.

Only what this project's file uses is understood: images, commands, environments, published ports,
named volumes, health checks and `${NAME:-default}`. Both engines work from these records.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from kafkalab import places
from kafkalab.errors import CourseError

VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


@dataclass(frozen=True)
class Port:
    """A port of the service and where it is reached on this machine."""

    address: str
    host: int
    container: int


@dataclass(frozen=True)
class Volume:
    """A named volume and the folder of the container it is mounted on."""

    name: str
    path: str


@dataclass(frozen=True)
class Service:
    """A service of the file, its variables filled in for one slot."""

    name: str
    image: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    ports: tuple[Port, ...]
    volumes: tuple[Volume, ...]

    @property
    def is_kafka(self) -> bool:
        """A Kafka node: a broker, a controller or both."""
        return "KAFKA_PROCESS_ROLES" in self.environment

    @property
    def node(self) -> int:
        """The Kafka node id."""
        return int(self.environment["KAFKA_NODE_ID"])

    @property
    def roles(self) -> frozenset[str]:
        """`broker`, `controller` or both, as in KAFKA_PROCESS_ROLES."""
        roles = self.environment.get("KAFKA_PROCESS_ROLES", "")
        return frozenset(role.strip() for role in roles.split(",") if role.strip())

    @property
    def listening(self) -> list[tuple[str, int]]:
        """Each port that a Kafka node listens at, after for whom: `clients` or `nodes`."""
        published = {port.container for port in self.ports}
        ports = [
            int(entry.rpartition(":")[2])
            for entry in self.environment["KAFKA_LISTENERS"].split(",")
        ]
        return [("clients" if port in published else "nodes", port) for port in ports]

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """Where a Kafka node keeps its log, as paths of the container."""
        return tuple(self.environment.get("KAFKA_LOG_DIRS", "/tmp/kafka-logs").split(","))


@dataclass(frozen=True)
class Description:
    """One profile of the file: every service of a cluster, all variables filled in."""

    profile: str
    services: tuple[Service, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    def service(self, name: str) -> Service:
        """By its name; a CourseError where the profile has none of this name."""
        for service in self.services:
            if service.name == name:
                return service
        raise CourseError(
            f"The profile {self.profile} has no service {name!r}.",
            f"Its services are {', '.join(service.name for service in self.services)}.",
        )

    @property
    def kafka(self) -> tuple[Service, ...]:
        """Those that run Kafka, as a broker or a controller."""
        return tuple(service for service in self.services if service.is_kafka)

    @property
    def brokers(self) -> dict[int, Service]:
        """Node id -> service, for the nodes that serve clients."""
        return {service.node: service for service in self.kafka if "broker" in service.roles}

    @property
    def controllers(self) -> dict[int, Service]:
        """Those with the role `controller`, which may be brokers too."""
        return {service.node: service for service in self.kafka if "controller" in service.roles}

    @property
    def addresses(self) -> dict[int, str]:
        """Broker id -> the address of its published listener on this machine."""
        return {
            node: f"{service.ports[0].address}:{service.ports[0].host}"
            for node, service in self.brokers.items()
            if service.ports
        }

    def with_settings(self, settings: Mapping[str, str]) -> Description:
        """The same cluster with these broker settings (names of server.properties) on top."""
        extra = {setting_variable(name): str(value) for name, value in settings.items()}
        return replace(
            self,
            services=tuple(
                replace(service, environment={**service.environment, **extra})
                if service.is_kafka
                else service
                for service in self.services
            ),
        )


def setting_variable(name: str) -> str:
    """`log.retention.ms` -> `KAFKA_LOG_RETENTION_MS`, by the rule of the official image."""
    return "KAFKA_" + name.replace("_", "__").replace("-", "___").replace(".", "_").upper()


def setting_name(variable: str) -> str:
    """`KAFKA_LOG_RETENTION_MS` -> `log.retention.ms`: what the official image does."""
    rest = variable.removeprefix("KAFKA_").lower()
    return re.sub("_{1,3}", lambda found: {1: ".", 2: "_", 3: "-"}[len(found.group())], rest)


def profiles(path: Path | None = None) -> list[str]:
    """The names of the clusters in the file, in its order."""
    found: dict[str, None] = {}
    for service in _load(path)["services"].values():
        found.update(dict.fromkeys(service.get("profiles", [])))
    return list(found)


def published(profile: str, path: Path | None = None) -> dict[str, int]:
    """The variables that hold this profile's ports on the host, with their default values."""
    defaults: dict[str, int] = {}
    for service in _services(profile, path).values():
        for port in service.get("ports", []):
            for found in VARIABLE.finditer(str(port)):
                defaults[found["name"]] = int(found["default"])
    return defaults


def read(
    profile: str, variables: Mapping[str, object] | None = None, path: Path | None = None
) -> Description:
    """The services of one profile; `variables` take the place of the file's defaults."""
    values = {name: str(value) for name, value in (variables or {}).items()}
    return Description(
        profile=profile,
        services=tuple(
            _service(name, _fill(raw, values)) for name, raw in _services(profile, path).items()
        ),
        variables=values,
    )


def _load(path: Path | None) -> dict[str, Any]:
    path = path or places.repository() / "docker-compose.yml"
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with path.open("rb") as file:
        return yaml.load(file, Loader=loader)


def _services(profile: str, path: Path | None) -> dict[str, dict[str, Any]]:
    every = _load(path)["services"]
    chosen = {name: raw for name, raw in every.items() if profile in raw.get("profiles", [])}
    if not chosen:
        raise CourseError(
            f"There is no cluster called {profile!r}.",
            f"docker-compose.yml describes {', '.join(profiles(path))}.",
        )
    return chosen


def _fill(raw: Any, values: Mapping[str, str]) -> Any:
    if isinstance(raw, dict):
        return {key: _fill(value, values) for key, value in raw.items()}
    if isinstance(raw, list):
        return [_fill(value, values) for value in raw]
    if isinstance(raw, str):
        return VARIABLE.sub(lambda found: values.get(found["name"], found["default"] or ""), raw)
    return raw


def _service(name: str, raw: dict[str, Any]) -> Service:
    command = raw.get("command") or ()
    return Service(
        name=name,
        image=raw.get("image", ""),
        command=tuple(shlex.split(command) if isinstance(command, str) else map(str, command)),
        environment=_environment(raw.get("environment") or {}),
        ports=tuple(_port(str(port)) for port in raw.get("ports", [])),
        volumes=tuple(Volume(*str(volume).split(":")[:2]) for volume in raw.get("volumes", [])),
    )


def _environment(raw: dict[str, Any] | list[str]) -> dict[str, str]:
    if isinstance(raw, list):
        raw = dict(entry.partition("=")[::2] for entry in raw)
    return {key: str(value) for key, value in raw.items()}


def _port(text: str) -> Port:
    *address, host, container = text.split(":")
    return Port(address[0] if address else "0.0.0.0", int(host), int(container))
