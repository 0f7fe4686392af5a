"""What one start of a cluster adds to docker-compose.yml, as a second file of Compose's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kafkalab.engine.compose import Service, setting_variable
from kafkalab.engine.docker_owned import LABEL

FRESH_NAMES = "-Dsun.net.inetaddr.ttl=1 -Dsun.net.inetaddr.negative.ttl=0"


def override(
    services: Sequence[Service], folder: Path, settings: Mapping[str, object], behind_gateway: bool
) -> dict[str, Any]:
    """Our label on everything, so that it is found again by the slot's folder, and the settings."""
    label = {LABEL: str(folder)}
    networks = {service.name: _networks(service, behind_gateway) for service in services}
    return {
        "services": {
            service.name: {
                "labels": label,
                "environment": _extra(service, settings, behind_gateway),
            }
            | ({"networks": networks[service.name]} if networks[service.name] else {})
            | _as_the_engine_needs_it(service)
            for service in services
        },
        "volumes": {
            volume.name: {"labels": label} for service in services for volume in service.volumes
        },
        "networks": {name: {"labels": label} for name in {"default"}.union(*networks.values())},
    }


def _extra(
    service: Service, settings: Mapping[str, object], behind_gateway: bool
) -> dict[str, str]:
    """What the environment of a service has beyond docker-compose.yml."""
    if not service.is_kafka:
        return {}
    extra = {setting_variable(name): str(value) for name, value in settings.items()}
    # Behind a gateway the port that is published is not the one that clients are told.
    told = "KAFKA_ADVERTISED_LISTENERS"
    if behind_gateway and told in service.environment:
        extra.setdefault(told, service.environment[told])
        # A node that is cut off has no name meanwhile; Java must not go on believing that.
        options = service.environment.get("KAFKA_OPTS", "")
        extra["KAFKA_OPTS"] = f"{options} {FRESH_NAMES}".strip()
    # Compose would fill in variables here as well; a dollar sign is written twice.
    return {name: value.replace("$", "$$") for name, value in extra.items()}


def _networks(service: Service, behind_gateway: bool) -> dict[str, dict[str, str]]:
    """Behind a gateway, a network of its own for what clients send to a service.

    Docker publishes a port through the first of a container's networks by name. So clients still
    reach a service that is disconnected from the network of the nodes.
    """
    if not behind_gateway or not service.ports:
        return {}
    return {f"clients-{service.name}": {}, "default": {}}


def _as_the_engine_needs_it(service: Service) -> dict[str, Any]:
    """What serves a cluster that is started by hand, and not one that is watched and broken.

    Nobody waits here for the health of a container, and each check is a program of Docker's own:
    a container that is frozen while one begins answers nobody again. And SIGKILL is for the first
    process: below another one a node that was frozen would go on, for a moment, before it ends
    with it.
    """
    return {"healthcheck": {"disable": True}, "init": False} if service.is_kafka else {}
