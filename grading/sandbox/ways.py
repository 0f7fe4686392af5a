"""The ways out of a sandbox to the cluster of its attempt: to the brokers, and a narrow door."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

from grading.sandbox.carrier import Carrier
from grading.sandbox.door import Door
from grading.sandbox.room import DOORS
from kafkalab.cluster.cluster import Cluster
from kafkalab.engine.door import DOOR
from kafkalab.gateway import routes

BROKERS, ORDERS, COPIES = "brokers", "orders", "copies"


class Ways:
    """Opened for the cluster with this record, before a cell runs; `cell` then goes them."""

    def __init__(self, folder: Path, record: str, allowed: Collection[str]) -> None:
        facts = json.loads(Path(record).read_text("utf-8"))
        cluster = Cluster.attach(record)
        doors = folder / DOORS
        ports = [int(address.rpartition(":")[2]) for address in facts["addresses"].values()]
        Carrier(doors / BROKERS, ports)
        names = [service.name for service in cluster.description.services]
        self._door = Door(doors / ORDERS, doors / COPIES, cluster.engine, names, allowed)
        # Not among the slots: a cluster of the student's own, which cannot see who holds this one,
        # would clear it away as a leftover.
        inside = {"engine": "door", "folder": str(folder / "state" / "attempt")}
        self.cell = (
            f"os.environ[{DOOR!r}] = {str(doors / ORDERS)!r}\n"
            "__import__('grading.sandbox.joining', fromlist=['join']).join(\n"
            f"    {str(doors / BROKERS)!r}, {facts | inside!r},\n"
            f"    {[asdict(one) for one in routes.read(cluster.slot.folder)]!r},\n)"
        )

    @property
    def done(self) -> list[tuple[float, str]]:
        """What the student's code did to the nodes, and when."""
        return self._door.done
