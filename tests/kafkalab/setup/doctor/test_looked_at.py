"""Each symptom is provoked, and what was looked at must name its cause."""

import json
import os
import socket
import sys

import pytest

from kafkalab import places
from kafkalab.engine import compose
from kafkalab.machine import limits
from kafkalab.setup.doctor import clusters, memory, optional, packages, system
from kafkalab.setup.doctor.diagnosis import ask


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A cache and a state of this test's own."""
    for name in ("CACHE", "STATE"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(f"KAFKALAB_{name}", str(folder))
    return tmp_path


@pytest.fixture
def server():
    """A port on which somebody listens; what it sends is the test's choice."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def test_a_kernel_of_another_python_is_named(tmp_path, monkeypatch):
    folder = tmp_path / "kernels" / "python3"
    folder.mkdir(parents=True)
    spec = {"argv": ["/elsewhere/python", "-m", "ipykernel_launcher"], "display_name": "Python 3"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    finding = packages.kernel()
    assert finding.level == "bad"
    assert "/elsewhere/python" in finding.seen
    assert sys.executable in finding.why


def test_the_kernel_of_this_environment_is_good():
    assert packages.kernel().level == "good"


def test_an_old_client_is_named_with_its_version(tmp_path, monkeypatch):
    folder = tmp_path / "kafka_python-2.0.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: kafka-python\nVersion: 2.0.2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    finding = packages.client()
    assert (finding.level, finding.seen) == ("bad", "2.0.2")
    assert "./course setup" in finding.mend


def test_java_packages_that_are_not_there_are_counted(folders):
    finding = packages.java_packages()
    assert finding.level == "note"
    assert "of kafka" in finding.seen
    assert "./course setup" in finding.mend


def test_a_wrong_java_home_is_a_finding_and_ends_nothing(monkeypatch):
    monkeypatch.setenv("KAFKALAB_JAVA_HOME", "/nowhere")
    findings = list(ask([packages.java_runtime, system.cores]))
    assert findings[0].level == "bad"
    assert "/nowhere" in findings[0].seen
    assert len(findings) == 2


def test_the_holder_of_a_port_is_named(monkeypatch, server):
    port = server.getsockname()[1]
    monkeypatch.setattr(compose, "published", lambda profile: {"KAFKALAB_BROKER_PORT": port})
    finding = clusters.ports()
    assert finding.level == "note"
    assert str(port) in finding.seen
    assert str(os.getpid()) in finding.seen


def test_what_a_dead_owner_left_is_named(folders):
    (places.state() / "slot-7").mkdir()
    finding = clusters.clusters()
    assert finding.level == "note"
    assert "slot 7" in finding.seen
    assert "down --all" in finding.mend


def test_without_docker_nothing_is_wrong(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = optional.docker()
    assert finding.level == "good"
    assert "not installed" in finding.seen


def test_a_docker_engine_that_does_not_answer_is_a_note(monkeypatch, tmp_path):
    # The command may be there or not; with it, this address has no engine behind it.
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    finding = optional.docker()
    assert finding.level == "note"
    assert "Cannot connect" in finding.why


def test_a_container_with_too_little_memory_is_told_apart_from_the_machine(monkeypatch):
    monkeypatch.setattr(limits, "of_group", lambda: limits.GIB // 2)

    finding = memory.memory()

    assert finding.level == "bad"
    assert "0.5 GiB free in this container" in finding.seen
    assert "docker run --memory" in finding.mend
