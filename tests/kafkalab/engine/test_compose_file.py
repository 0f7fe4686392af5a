"""`docker compose` alone, without our Python, as the head of docker-compose.yml says."""

import json
import os
import subprocess
from collections.abc import Iterator
from functools import partial

import pytest

from kafkalab import engine, places
from kafkalab.engine import compose
from kafkalab.engine.slot import Slot
from kafkalab.wait import wait_until

pytestmark = [pytest.mark.docker, pytest.mark.cluster]

PROJECT = "kafkalab-by-hand"
# What the shell of somebody may hold who also works on something else.
OF_ANOTHER_PROJECT = {
    "BROKER_PORT": "tcp://10.0.0.1:9092",
    "BROKER_0_PORT": "1",
    "CLUSTER_ID": "another",
    "KAFKA_NODE_ID": "7",
    "KAFKA_HEAP_OPTS": "-Xmx2m",
}


class ByHand:
    def __init__(self, profile: str, ports: dict[str, int]) -> None:
        self.profile = profile
        ours = {name: str(port) for name, port in ports.items()}
        self._environment = os.environ | OF_ANOTHER_PROJECT | ours

    def compose(self, *arguments: str) -> str:
        return self.docker("compose", "-p", PROJECT, "--profile", self.profile, *arguments)

    def health(self, service: str) -> dict:
        container = self.compose("ps", "--all", "--quiet", service).strip()
        return json.loads(self.docker("inspect", "--format", "{{json .State.Health}}", container))

    def endings(self) -> list[str]:
        """The exit code of each container."""
        containers = self.compose("ps", "--all", "--quiet").split()
        return self.docker("inspect", "--format", "{{.State.ExitCode}}", *containers).split()

    def docker(self, *arguments: str) -> str:
        done = subprocess.run(
            ["docker", *arguments],
            cwd=places.repository(),
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def by_hand(request: pytest.FixtureRequest) -> Iterator[ByHand]:
    """A cluster of the profile that the test names; with `begun` after it, still on its way up."""
    profile, _, begun = request.param.partition(" ")
    slot = Slot.take(compose.published(profile), engine.clean)
    project = ByHand(profile, slot.ports)
    try:
        project.compose("up", "--detach", *([] if begun else ["--wait"]))
        yield project
    finally:
        project.compose("down", "--volumes", "--timeout", "0")
        slot.release()


@pytest.mark.parametrize("by_hand", ["single"], indirect=True)
def test_a_broker_that_is_healthy_serves_at_once(by_hand: ByHand) -> None:
    topics = ("/opt/kafka/bin/kafka-topics.sh", "--bootstrap-server", "broker:19092")
    by_hand.compose("exec", "-T", "broker", *topics, "--create", "--topic", "by-hand")
    assert by_hand.compose("exec", "-T", "broker", *topics, "--list").split() == ["by-hand"]


@pytest.mark.parametrize("by_hand", ["replicated"], indirect=True)
def test_one_dead_broker_makes_no_other_unhealthy(by_hand: ByHand) -> None:
    assert {by_hand.health(name)["Status"] for name in ("controller", "broker-1")} == {"healthy"}
    by_hand.compose("kill", "broker-1")
    by_hand.compose("pause", "broker-2")
    for service in ("controller", "broker-0"):
        before = by_hand.health(service)["Log"][-1]["Start"]
        wait_until(
            partial(_checked_again, by_hand, service, before),
            timeout=30,
            what=f"three more checks of {service}",
            every=0.5,
        )
        health = by_hand.health(service)
        assert health["Status"] == "healthy"
        assert [check["ExitCode"] for check in health["Log"][-3:]] == [0, 0, 0]
    assert by_hand.health("broker-1")["Status"] == "unhealthy"


@pytest.mark.parametrize("by_hand", ["replicated"], indirect=True)
def test_brokers_hand_over_and_end_by_themselves(by_hand: ByHand) -> None:
    """Stopped beside their controller they would wait for it until Docker kills them."""
    by_hand.compose("stop")
    assert by_hand.endings() == ["143"] * 4  # Java's answer to SIGTERM, after all else is done


@pytest.mark.parametrize("by_hand", ["single begun"], indirect=True)
def test_a_node_that_is_stopped_while_it_starts_ends_by_itself(by_hand: ByHand) -> None:
    """It begins as a shell that formats the disk, which as a first process hears no SIGTERM."""
    by_hand.compose("stop")
    assert by_hand.endings() == ["143"]


def _checked_again(by_hand: ByHand, service: str, before: str) -> bool:
    return sum(check["Start"] > before for check in by_hand.health(service)["Log"]) >= 3
