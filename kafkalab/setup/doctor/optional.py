"""What the course can do without: a Docker engine, a browser on this machine."""

from __future__ import annotations

import shutil
import subprocess
import webbrowser

from kafkalab import environment
from kafkalab.setup.doctor.diagnosis import Diagnosis


def docker() -> Diagnosis:
    """Docker is optional, so nothing about it is ever bad."""
    if shutil.which("docker") is None:
        return Diagnosis("docker", "good", "not installed; the course does not need it")
    engine = _docker("version", "--format", "{{.Server.Version}} {{.Server.Arch}}")
    if engine.returncode:
        return Diagnosis(
            "docker",
            "note",
            "installed, but no engine answers",
            _last_line(engine.stderr),
            "Only --engine docker needs it. Start Docker, then: docker info",
        )
    plugin = _docker("compose", "version", "--short")
    if plugin.returncode:
        return Diagnosis(
            "docker",
            "note",
            f"engine {engine.stdout.strip()}, but no Compose v2",
            "`docker-compose` with a hyphen is version 1, which the course's file does not fit.",
            "Only --engine docker needs it. Install the Docker Compose plug-in.",
        )
    return Diagnosis(
        "docker", "good", f"engine {engine.stdout.strip()}, Compose {plugin.stdout.strip()}"
    )


def browser() -> Diagnosis:
    """Whether `./course lab` can open a page by itself; nothing about it is ever bad."""
    try:
        webbrowser.get()
    except webbrowser.Error:
        return Diagnosis(
            "browser", "good", "none with a screen here; ./course lab prints the address to open"
        )
    return Diagnosis("browser", "good", "./course lab opens it")


def _docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["docker", *arguments],
            capture_output=True,
            text=True,
            timeout=15,
            check=False,
            env=environment.for_docker({}),
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 1, "", "Docker did not answer in 15 s.")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]
