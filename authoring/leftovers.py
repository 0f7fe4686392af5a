"""Processes that outlive what started them: found by a variable that they inherit, and ended."""

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psutil

MARK = "KAFKALAB_RUN"
# The watcher of a cluster ends it after the kernel that owned it. That takes a moment, and with
# Docker as long as docker takes: killed meanwhile, it would leave the containers.
SECONDS_TO_CLEAN_UP = 60.0


@contextmanager
def marked(environment: Mapping[str, str]) -> Iterator[str]:
    """What starts in here has these variables, and a mark among them by which it is found."""
    mark = uuid.uuid4().hex
    added = {**environment, MARK: mark}
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield mark
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def left_behind(mark: str) -> list[str]:
    """End the processes that still carry the mark after a grace period; their names."""
    _, alive = psutil.wait_procs(list(_carrying(mark)), timeout=SECONDS_TO_CLEAN_UP)
    names = []
    for process in alive:
        try:
            names.append(f"{process.name()} ({process.pid})")
            process.kill()
        except psutil.NoSuchProcess:
            continue
    return names


def _carrying(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                yield process
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess, OSError):
            continue
