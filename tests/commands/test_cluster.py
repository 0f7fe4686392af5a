"""up, down, status, logs, as typed."""

import json
import os

import pytest
import typer
from typer.testing import CliRunner, Result

from commands import cluster as verbs
from kafkalab import Cluster, CourseError
from kafkalab.cluster import inventory

APP = typer.Typer()
for verb in (verbs.up, verbs.down, verbs.status, verbs.logs):
    APP.command()(verb)


def course(*arguments: str) -> Result:
    return CliRunner().invoke(APP, arguments, catch_exceptions=True)


@pytest.mark.cluster
def test_from_up_to_down() -> None:
    started = course("up", "single", "--engine", "process", "--json")
    assert started.exit_code == 0, started.output
    facts = json.loads(started.stdout[started.stdout.index("{") :])
    slot = str(facts["slot"])
    try:
        assert facts["nodes"] == {"broker": "running"}
        assert facts["owner"] is None
        listed = json.loads(course("status", "--json").stdout)
        assert facts["record"] in [cluster["record"] for cluster in listed]
        assert "single" in course("status").stdout
        assert "Kafka Server started" in course("logs", "0", "--slot", slot, "-n", "500").stdout
        assert len(course("logs", "broker", "--slot", slot, "-n", "2").stdout.splitlines()) == 2
    finally:
        ended = course("down", "--slot", slot)
    assert ended.stdout == f"Ended single in slot {slot}.\n"
    with pytest.raises(CourseError, match="There is no cluster"):
        Cluster.attach(int(slot))


@pytest.mark.cluster
def test_down_spares_a_cluster_that_somebody_uses() -> None:
    with Cluster.start("single", engine="process") as cluster:
        slot = cluster.slot.number
        # Another run of the tests may have one, and commands are for all clusters of this user.
        if [c.slot for c in inventory.clusters() if c.profile == "single"] == [slot]:
            refused = course("down", "single")
            assert isinstance(refused.exception, CourseError)
            assert f"(process {os.getpid()})" in str(refused.exception)
        assert cluster.state(0) == "running"
        assert course("down", "--slot", str(slot)).stdout == f"Ended single in slot {slot}.\n"
        assert cluster.state(0) == "absent"


def test_a_cluster_that_is_not_there() -> None:
    missing = course("logs", "0", "--slot", "99")
    assert isinstance(missing.exception, CourseError)
    assert "No such cluster is running" in str(missing.exception)
