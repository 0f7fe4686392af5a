"""What a slot owns in Docker: it carries the slot's label, and nothing else is ever removed."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil
from python_on_whales import DockerClient

from kafkalab.engine import marked
from kafkalab.engine.docker_command import Docker, NoAnswer
from kafkalab.engine.docker_failures import RESTART
from kafkalab.engine.slot import StuckSlot
from kafkalab.wait import WaitTimeout, wait_until

# On every container, volume and network; the value is the slot's folder.
LABEL = "kafkalab.slot"
# The addition to docker-compose.yml that sets the label, in the slot's folder.
OVERRIDE = "compose.override.json"
# A busy machine takes a second for each call of docker, and there are a dozen.
SECONDS_TO_GO = 60.0


def clean(folder: Path) -> None:
    """End what a dead owner left of the slot with this folder: containers, calls, its gateway.

    Where Docker is gone or stopped, nothing runs, and the next `up` removes what is left.
    """
    marked.clean(folder)
    docker = Docker(DockerClient(), {})
    if docker.answers():
        remove_until_gone(docker, folder, rounds=2)


def remove_until_gone(docker: Docker, folder: Path, rounds: int = 1) -> None:
    """Remove every container, volume and network of a slot.

    A `docker compose up` that the owner had just begun is ended first. Docker may still create
    what it was asked for, so the search goes on until it has found nothing for some rounds.
    """
    quiet = 0
    said: list[str] = []

    def all_gone() -> bool:
        nonlocal quiet
        left = [*_end_calls(folder), *_remove_all(docker, folder, said)]
        quiet = 0 if left else quiet + 1
        return quiet == rounds

    try:
        wait_until(all_gone, timeout=SECONDS_TO_GO, what="them to go")
    except NoAnswer:
        raise  # Docker as a whole, which no other slot mends
    except WaitTimeout as late:
        why = f"Docker says: {said[-1]}" if said else late.what
        raise StuckSlot(folder, why, f"End what uses it. Where nothing does: {RESTART}") from late


def foreign(docker: Docker, project: str) -> bool:
    """Whether Docker has containers of a project with this name, after ours are removed.

    Compose would take them for its own and change them.
    """
    return bool(
        docker.run(
            *("container", "ls", "--all", "--quiet"),
            f"--filter=label=com.docker.compose.project={project}",
        )
    )


def _remove_all(docker: Docker, folder: Path, said: list[str]) -> list[str]:
    """Remove what carries the slot's label; returns what there was to remove.

    said: takes Docker's reasons why some of it is still there.
    """
    found: list[str] = []
    for kind, all_of_them, remove in (
        ("container", ("--all",), ("--force", "--volumes")),
        ("network", (), ()),
        ("volume", (), ()),
    ):
        listed = docker.run(kind, "ls", "--quiet", *all_of_them, *filters(folder)).split()
        if listed:
            # One that is just being removed by itself makes this fail, and is gone next time.
            try:
                done = docker.attempt(docker.command(kind, "rm", *remove, *listed), SECONDS_TO_GO)
            except NoAnswer as late:
                names = " ".join(listed)
                why = f"{late.what} Docker hangs with the {kind} {names}."
                raise StuckSlot(folder, why, RESTART) from late
            said += [line for line in done.stderr.splitlines() if line.startswith("Error")]
        found += listed
    return found


def _end_calls(folder: Path) -> list[str]:
    """Kill calls of Compose on this slot that outlived their owner; returns which there were."""
    found = []
    for call in marked.marked(str(folder / OVERRIDE)):
        with contextlib.suppress(psutil.NoSuchProcess):
            call.kill()
            found.append(f"process {call.pid}")
    return found


def filters(folder: Path, *more: str) -> list[str]:
    """Arguments for `docker … ls`: what carries the label of this slot, and more labels."""
    return [f"--filter=label={label}" for label in (f"{LABEL}={folder}", *more)]
