"""What docker writes when it fails -> what happened, why, and what mends it."""

from __future__ import annotations

import re

from kafkalab.errors import CourseError

WITHOUT_DOCKER = "The course runs without Docker too: leave out --engine and KAFKALAB_ENGINE."
RESTART = "Restart Docker (Docker Desktop, or on Linux: sudo systemctl restart docker)."

# Pattern, what, why, mend. The first pattern that is found counts.
FAILURES = (
    (
        r"permission denied.*(docker\.sock|docker daemon|docker API)",
        "Docker runs on this machine, but you may not use it.",
        "Its socket belongs to root and to the group docker.",
        'Join the group, then log in again: sudo usermod -aG docker "$USER"',
    ),
    (
        r"cannot connect to the docker daemon|is the docker daemon running|error during connect"
        r"|failed to connect to the docker API",
        "Docker is installed, but it is not running.",
        "Nothing answers at its socket.",
        f"Start Docker Desktop, or on Linux: sudo systemctl start docker. {WITHOUT_DOCKER}",
    ),
    (
        r"'compose' is not a docker command|unknown command: docker compose|unknown flag: --short",
        "Docker Compose is not installed, or only its old version 1.",
        "The course needs version 2, which is called as `docker compose`, without a hyphen.",
        "Install the package docker-compose-plugin (Ubuntu: docker-compose-v2).",
    ),
    (
        r"no matching manifest for (?P<found>\S+)",
        "The image does not exist for the processor of this machine.",
        "The registry has nothing for {found}.",
        WITHOUT_DOCKER,
    ),
    (
        r"toomanyrequests|pull rate limit",
        "The registry does not hand out more images to this network for a while.",
        "A whole class behind one address reaches the limit quickly.",
        f"Log in (docker login) or wait some hours. {WITHOUT_DOCKER}",
    ),
    (
        r"manifest unknown|pull access denied|manifest for \S+ not found",
        "The registry does not have the image that docker-compose.yml names.",
        "",
        "Compare the name and the version with docker-compose.yml of the repository.",
    ),
    (
        r"no such host|dial tcp|TLS handshake|i/o timeout|request canceled|failed to do request",
        "The image could not be pulled, because its registry is not reached.",
        "",
        f"Check the network and the proxy of Docker, then: docker pull IMAGE. {WITHOUT_DOCKER}",
    ),
    (
        r"no space left on device",
        "The disk that Docker keeps its images and volumes on is full.",
        "",
        "See what fills it: docker system df",
    ),
    (
        r"(?P<found>[\d.]+:\d+).*(port is already allocated|address already in use)"
        r"|ports are not available.*?(?P<other>[\d.]+:\d+)",
        "A port of the cluster is taken by another program.",
        "The port is {found}.",
        "End what listens there, or start the cluster again: it looks for free ports.",
    ),
    (
        r"exec format error",
        "The image is made for another kind of processor than this machine has.",
        "",
        "Remove it and let Docker pull the right one: docker image rm IMAGE",
    ),
)


def explain(said: str) -> CourseError:
    """What docker wrote, as an error that says what to do."""
    last = said.strip().splitlines()[-1] if said.strip() else "nothing"
    for pattern, what, why, mend in FAILURES:
        if found := re.search(pattern, said, re.IGNORECASE | re.DOTALL):
            groups = [group for group in found.groupdict().values() if group]
            why = why.format(found=groups[0]) if groups else why
            return CourseError(what, f"{why} Docker says: {last}".strip(), mend)
    return CourseError("Docker could not do what was asked.", f"It says: {last}")
