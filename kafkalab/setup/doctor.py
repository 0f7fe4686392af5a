"""What a machine lacks for this course: one diagnosis for each thing looked at.

Each check looks at one thing and answers with one diagnosis; none changes anything. The symptoms
come from what learners report: a port that is taken, a kernel with another Python, an old client,
a Docker engine without Compose v2.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import psutil

from kafkalab import environment, places
from kafkalab.engine import compose, slot
from kafkalab.errors import CourseError
from kafkalab.java import jars, runtime
from kafkalab.setup import kernel as kernels

Level = Literal["good", "note", "bad"]

GIB = 1024**3
# A replicated cluster, Spark, a kernel and JupyterLab together; see benchmarks/memory.py.
MEMORY = 2 * GIB
# The Python packages, the Java packages, the caches, and the logs of a lesson.
DISK = 3 * GIB
KAFKA_PYTHON = "3.0"
OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Diagnosis:
    """`bad` keeps lessons from running, `note` may matter, `good` is as it should be."""

    subject: str
    level: Level
    seen: str
    why: str = ""
    mend: str = ""


def examine(checks: list[Callable[[], Diagnosis]] | None = None) -> Iterator[Diagnosis]:
    """Every diagnosis, one after the other. A check that fails itself becomes a bad one."""
    for check in CHECKS if checks is None else checks:
        subject = check.__name__.replace("_", " ")
        try:
            yield check()
        except CourseError as error:
            yield Diagnosis(subject, "bad", error.what, error.why, error.mend)
        except (OSError, psutil.Error) as error:
            yield Diagnosis(subject, "note", f"could not be looked at: {error}")


def python() -> Diagnosis:
    """Whether this Python is new enough."""
    version = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        return Diagnosis(
            "python",
            "bad",
            f"Python {version}",
            f"The course needs {oldest} or newer.",
            f"Install Python {oldest}, remove the folder .venv, then: ./course setup",
        )
    return Diagnosis("python", "good", f"{version} at {sys.executable}")


def java_runtime() -> Diagnosis:
    """Whether there is a Java; a CourseError where not."""
    found = runtime.java()
    return Diagnosis("java", "good", f"{found.version} at {found.home}")


def java_packages() -> Diagnosis:
    """Whether all files of the Java packages are there, by their sizes."""
    missing = {}
    for name in jars.names():
        wanted = jars.locked(name)
        folder = jars.folder_of(name)
        absent = [
            jar.artifact.file_name
            for jar in wanted
            if not (path := folder / jar.artifact.file_name).exists()
            or path.stat().st_size != jar.size
        ]
        if absent:
            missing[name] = f"{len(absent)} of {len(wanted)}"
    if missing:
        listed = ", ".join(f"{count} files of {name}" for name, count in missing.items())
        return Diagnosis(
            "java packages",
            "note",
            f"{listed} not fetched yet, or damaged",
            "The first lesson fetches them, which needs the network and a minute.",
            "Fetch them now: ./course setup",
        )
    size = sum(jar.size for name in jars.names() for jar in jars.locked(name))
    return Diagnosis("java packages", "good", f"complete, {size / 1e6:.0f} MB at {places.cache()}")


def client() -> Diagnosis:
    """Whether kafka-python is of the version that the lessons are written for."""
    try:
        version = importlib.metadata.version("kafka-python")
    except importlib.metadata.PackageNotFoundError:
        return Diagnosis(
            "kafka-python",
            "bad",
            "not installed for this Python",
            f"This Python is {sys.executable}.",
            "Install the course's packages: ./course setup",
        )
    if not version.startswith(KAFKA_PYTHON + "."):
        return Diagnosis(
            "kafka-python",
            "bad",
            version,
            f"The lessons are written for {KAFKA_PYTHON}; others differ in names and defaults.",
            "Install the course's packages again: ./course setup",
        )
    return Diagnosis("kafka-python", "good", version)


def kernel() -> Diagnosis:
    """Whether the kernel that JupyterLab offers as `python3` is this Python."""
    found = kernels.kernel()
    if not found.is_ours:
        return Diagnosis(
            "kernel",
            "bad",
            f"notebooks would run with {found.program}",
            f"The course's packages are installed for {sys.executable}.",
            "Start JupyterLab with ./course lab, or choose the course's kernel in its menu.",
        )
    return Diagnosis("kernel", "good", f"python3 is {sys.executable}")


def ports() -> Diagnosis:
    """Whether the ports of docker-compose.yml are free."""
    taken: dict[int, str] = {}
    for profile in compose.profiles():
        for port in compose.published(profile).values():
            if port not in taken and not slot.is_free(port):
                taken[port] = slot.describe_holder(port)
    if not taken:
        return Diagnosis("ports", "good", "the usual ports are free")
    return Diagnosis(
        "ports",
        "note",
        "; ".join(taken.values()),
        "Clusters take other ports then. A cluster started by hand with Docker Compose cannot.",
        "If it is a cluster of this course: ./course status, then ./course down --all",
    )


def memory() -> Diagnosis:
    """Whether a lesson with three brokers and Spark fits."""
    free, total = psutil.virtual_memory().available, psutil.virtual_memory().total
    seen = f"{free / GIB:.1f} GiB free of {total / GIB:.1f} GiB"
    if free < MEMORY:
        return Diagnosis(
            "memory",
            "bad",
            seen,
            f"A lesson with three brokers and Spark wants {MEMORY / GIB:.0f} GiB.",
            "Close other programs; end clusters of this course: ./course down --all",
        )
    return Diagnosis("memory", "good", seen)


def disk() -> Diagnosis:
    """Whether packages and logs fit, on the fuller of two disks."""
    free = {folder: shutil.disk_usage(folder).free for folder in (places.cache(), places.state())}
    folder, least = min(free.items(), key=lambda item: item[1])
    seen = f"{least / GIB:.1f} GiB free at {folder}"
    if least < DISK:
        return Diagnosis(
            "disk",
            "bad",
            seen,
            f"The course's packages and a lesson's logs want {DISK / GIB:.0f} GiB.",
            "Make room, or let KAFKALAB_CACHE and KAFKALAB_STATE name folders on another disk.",
        )
    return Diagnosis("disk", "good", seen)


def cores() -> Diagnosis:
    """Whether there are two."""
    count = os.cpu_count() or 1
    if count < 2:
        return Diagnosis("cores", "note", f"{count} core", "Lessons run, but take much longer.")
    return Diagnosis("cores", "good", f"{count} cores")


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


def windows() -> Diagnosis:
    """Whether this is Linux in Windows, and of which version."""
    release = platform.release().lower()
    if "microsoft" not in release:
        return Diagnosis("system", "good", f"{platform.system()} {platform.machine()}")
    if "wsl2" not in release and "standard" not in release:
        return Diagnosis(
            "system",
            "bad",
            "Windows Subsystem for Linux, version 1",
            "Brokers need a real Linux kernel.",
            "In PowerShell: wsl --set-version DISTRIBUTION 2",
        )
    return Diagnosis(
        "system",
        "note",
        "Windows Subsystem for Linux 2",
        "127.0.0.1 of Windows and of Linux are two places: clients must run on the Linux side.",
        "Run ./course lab inside Linux and open the address it prints in a Windows browser.",
    )


def clusters() -> Diagnosis:
    """Whether a cluster was left behind."""
    records = slot.records()
    stale = [record for record in records if not record["held"]]
    if stale:
        numbers = ", ".join(str(record["slot"]) for record in stale)
        return Diagnosis(
            "clusters",
            "note",
            f"left behind in slot {numbers}",
            "Its owner ended without cleaning up.",
            "Clean up: ./course down --all",
        )
    running = [
        f"{record.get('profile', 'starting')} in slot {record['slot']}" for record in records
    ]
    return Diagnosis("clusters", "good", "running: " + ", ".join(running) if running else "none")


CHECKS: list[Callable[[], Diagnosis]] = [
    python, kernel, client, java_runtime, java_packages, memory, disk, cores, windows, ports,
    clusters, docker,
]  # fmt: skip


def as_json(diagnoses: list[Diagnosis]) -> str:
    """For a report: a list of objects with the fields of a Diagnosis."""
    return json.dumps([vars(diagnosis) for diagnosis in diagnoses], indent=1)


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
