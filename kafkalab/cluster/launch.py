"""Bring a cluster to life, or find one that is alive."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kafkalab import engine, places
from kafkalab.engine import Engine, compose, java_command, marked
from kafkalab.engine.compose import Description
from kafkalab.engine.slot import Slot, SlotInUse, StuckSlot
from kafkalab.engine.watcher import Guard
from kafkalab.errors import CourseError
from kafkalab.gateway import Gateway, routes
from kafkalab.machine import limits, loopback, room
from kafkalab.notebook import page

# The last line of a node's start.
STARTED = "Kafka Server started"
EXCEPTION = re.compile(r"(?:^|\s)(?:[\w.]+\.)?(\w+(?:Exception|Error)): (.+)")


class PortTaken(CourseError):
    """A port of the slot was free when the slot was taken and is not any more."""


@dataclass(frozen=True)
class Launched:
    """`guard` is None for a cluster that somebody else holds."""

    description: Description
    engine: Engine
    slot: Slot
    guard: Guard | None
    gateway: Gateway | None


def start(
    profile: str, engine_name: str | None, settings: dict[str, str], with_gateway: bool = False
) -> Launched:
    """Take a slot and start every service; does not wait for Kafka."""
    name = engine.chosen(engine_name)
    loopback.require()
    passed: set[int] = set()
    while True:
        slot = Slot.take(compose.published(profile), engine.clean, passed)
        for note in slot.notes:
            print(note)
        try:
            return _start_in(slot, profile, name, settings, with_gateway)
        except SlotInUse as error:
            # A clean-up does not see what was there before the slot's folder.
            print(f"Slot {slot.number} is passed over. {' '.join(error.lines())}")
            passed.add(slot.number)


def _start_in(
    slot: Slot, profile: str, name: str, settings: dict[str, str], with_gateway: bool
) -> Launched:
    guard = None
    try:
        (slot.folder / "engine").write_text(name)
        # Before anything runs: from here on nothing can be left behind.
        guard = Guard(slot)
        description = compose.read(profile, slot.ports)
        running = engine.build(name, description, slot, settings, with_gateway)
        describe(slot, description, name, guard, os.getpid(), settings)
        gateway = None
        if with_gateway:
            mark = f"{java_command.MARK}{slot.folder}"
            gateway = Gateway.start(slot.folder, running.routes(), mark)
        running.up()
    except BaseException as error:
        stuck = error if isinstance(error, StuckSlot) else None
        try:
            # Where the slot was in use, nothing was started but the gateway.
            (marked.clean if isinstance(error, SlotInUse) else engine.clean)(slot.folder)
        except StuckSlot as left:
            stuck = left
        if guard is not None:
            guard.dismiss()
        slot.release(stuck)
        raise
    return Launched(description, running, slot, guard, gateway)


def attach(
    where: str | Path | int,
    profile: str | None = None,
    settings: Mapping[str, str] | None = None,
    with_gateway: bool = False,
) -> Launched:
    """A running cluster, by its slot, its folder or its cluster.json."""
    path = places.state() / f"slot-{where}" if isinstance(where, int) else Path(where)
    path = path / "cluster.json" if path.is_dir() or isinstance(where, int) else path
    try:
        facts = json.loads(path.read_text())
    except FileNotFoundError:
        raise CourseError(
            f"There is no cluster at {path}.",
            "It was stopped, or never started.",
            "See what is running: ./course status",
        ) from None
    if profile not in (None, facts["profile"]):
        raise CourseError(
            f"The running cluster is of the profile {facts['profile']}, not {profile}.",
            f"KAFKALAB_CLUSTER names {path}.",
            f"Start the right one (./course up {profile}) or unset KAFKALAB_CLUSTER.",
        )
    missing = {n: v for n, v in (settings or {}).items() if facts["settings"].get(n) != v}
    if missing:
        raise CourseError(
            "The running cluster has other settings than are asked for.",
            f"It lacks {', '.join(f'{name}={value}' for name, value in missing.items())}.",
            "Unset KAFKALAB_CLUSTER, so that a fresh one starts.",
        )
    slot = Slot.of(facts)
    gateway = Gateway(slot.folder) if routes.read(slot.folder) else None
    if with_gateway and gateway is None:
        raise CourseError(
            "The running cluster has no gateway.",
            "One has to be there when a cluster starts.",
            "Unset KAFKALAB_CLUSTER, so that a fresh cluster starts.",
        )
    description = compose.read(facts["profile"], slot.ports)
    running = engine.build(
        facts["engine"], description, slot, facts["settings"], gateway is not None
    )
    if not {"running", "paused"} & {*running.states().values()}:
        raise CourseError(
            f"The cluster of slot {slot.number} is not running any more.",
            "",
            "See what is running: ./course status",
        )
    return Launched(description, running, slot, None, gateway)


def describe(
    slot: Slot,
    description: Description,
    engine_name: str,
    guard: Guard,
    owner: int | None,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Write the slot's cluster.json."""
    if settings is None:
        settings = json.loads(slot.record.read_text())["settings"]
    slot.describe(
        {
            "profile": description.profile,
            "engine": engine_name,
            "addresses": description.addresses,
            "owner": owner,
            "by": page.owner() if owner is not None else "",
            "watcher": guard.pid,
            "since": time.time(),
            "ports": slot.ports,
            "settings": settings,
        }
    )


def all_started(running: Engine, description: Description) -> bool:
    """Whether each node has logged that it has started; one that has ended is an error."""
    refuse_ended(running)
    return all(STARTED in running.logs(service.name, 2000) for service in description.kafka)


def refuse_ended(running: Engine) -> None:
    """Raise why the first node that has ended did so."""
    for service, state in running.states().items():
        if state == "exited":
            raise why_ended(service, running.logs(service, 400))


def why_ended(service: str, log: str) -> CourseError:
    """What a node that ended while it started died of, out of the end of its log."""
    reasons = [found for line in log.splitlines() if (found := EXCEPTION.search(line))]
    if any("Address already in use" in reason[2] for reason in reasons):
        return PortTaken(f"Another program took a port of {service} while it started.")
    if room.is_full(places.state()):
        return CourseError(
            f"{service} ended while it started: the disk is full.",
            f"The data of clusters lies in {places.state()}.",
            "Make room, or let KAFKALAB_STATE name a folder on another disk. How full each is: "
            "./course doctor",
        )
    if reasons:
        why = f"{reasons[-1][1]}: {reasons[-1][2]}"
    else:
        why = log.strip().splitlines()[-1] if log.strip() else "It wrote nothing."
        if limited := limits.too_tight():
            return CourseError(f"{service} ended while it started: {why}", *limited)
    return CourseError(f"{service} ended while it started.", why)
