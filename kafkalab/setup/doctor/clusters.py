"""Clusters that run or were left behind, and the ports they want."""

from __future__ import annotations

from kafkalab.engine import compose, slot
from kafkalab.setup.doctor.diagnosis import Diagnosis


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
