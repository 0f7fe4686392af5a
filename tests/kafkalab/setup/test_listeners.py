"""Each step of a client is followed, and the one that fails is named with its cause."""

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kafkalab import Cluster
from kafkalab.setup import listeners


@pytest.fixture
def server():
    """A port on which somebody listens; what it sends is the test's choice."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture
def closed():
    """The address of a port that is taken, so that nobody listens there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield address(taken)


def answer(listener: socket.socket, data: bytes) -> None:
    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(100)
            connection.sendall(data)

    threading.Thread(target=serve, daemon=True).start()


def address(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


def test_a_closed_port_ends_the_trace_at_the_connection(closed):
    findings = list(listeners.trace(closed))
    assert [finding.level for finding in findings] == ["bad"]
    assert "the connection failed" in findings[0].seen


def test_a_port_that_is_no_broker_ends_the_trace_at_the_protocol(server):
    answer(server, b"HTTP/1.1 400 Bad Request\r\n\r\n")
    findings = list(listeners.trace(address(server)))
    assert [finding.level for finding in findings] == ["bad"]
    assert "does not answer as a Kafka broker" in findings[0].seen


@pytest.mark.process
def test_the_command_tells_and_ends_with_1(closed):
    command = [sys.executable, "-m", "commands.app", "doctor", "--address", closed, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=Path.cwd())
    assert done.returncode == 1
    (finding,) = json.loads(done.stdout)
    assert finding["level"] == "bad"
    assert "Traceback" not in done.stderr


@pytest.mark.cluster
def test_an_advertised_address_that_fails_is_told_apart_from_bootstrap():
    settings = {"broker.session.timeout.ms": "9000"}  # the dead broker stays in the metadata
    with Cluster.start("replicated", settings=settings) as cluster:
        assert [f.level for f in listeners.trace(cluster.addresses[0])] == ["good"] * 4
        cluster.kill(2)
        findings = {f.subject: f for f in listeners.trace(cluster.addresses[0])}
        broken = findings[f"broker 2 at {cluster.addresses[2]}"]
        assert broken.level == "bad"
        assert "Bootstrap worked" in broken.why
        assert findings[f"bootstrap {cluster.addresses[0]}"].level == "good"
