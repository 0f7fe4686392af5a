"""What was installed and fetched: kafka-python, the kernel, Java and its packages."""

from __future__ import annotations

import importlib.metadata
import sys

from kafkalab import places
from kafkalab.java import jars, runtime
from kafkalab.setup import kernel as kernels
from kafkalab.setup.doctor.diagnosis import Diagnosis

KAFKA_PYTHON = "3.0"


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
