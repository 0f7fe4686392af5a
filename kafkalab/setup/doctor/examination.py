"""The checks of `./course doctor`: first what is looked at, then what is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafkalab import places
from kafkalab.setup.doctor import (
    attempts,
    clusters,
    folders,
    memory,
    network,
    optional,
    packages,
    system,
    variables,
)
from kafkalab.setup.doctor.diagnosis import Check, Diagnosis, ask


def disk() -> Diagnosis:
    """Whether packages and logs fit, on the fuller of two disks."""
    return folders.room({places.cache(): folders.DISK, places.state(): folders.DISK})


LOOKED_AT: list[Check] = [
    system.system, system.python, system.user, system.cores, memory.memory,
    system.addresses, system.files,
    folders.home, folders.named_folders, folders.temporary, folders.course, disk,
    variables.variables, network.loopback, network.names,
    packages.kernel, packages.client, packages.java_runtime, packages.java_packages,
    clusters.ports, clusters.clusters, optional.docker, optional.browser,
]  # fmt: skip


def examine(announce: Callable[[str], object] = lambda text: None) -> Iterator[Diagnosis]:
    """Every diagnosis, one after the other. `announce` is told what takes its time, before it."""
    yield from ask(LOOKED_AT)
    for attempt in attempts.ATTEMPTS:
        announce(f"{attempt.doing} (at most {attempt.seconds} s)")
        yield attempts.make(attempt)
    yield system.not_tried()
