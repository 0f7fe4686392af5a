"""The contract of the official image, which the stand-in must keep: both pass these tests."""

import subprocess
import sys
from pathlib import Path

import pytest
from python_on_whales import DockerClient
from python_on_whales.exceptions import DockerException

from authoring.image import build
from kafkalab import places
from kafkalab.engine import compose
from kafkalab.engine.tools import CLASSES
from kafkalab.wait import wait_until

pytestmark = [pytest.mark.docker, pytest.mark.cluster, pytest.mark.machine]

IMAGE = compose.read("single").kafka[0].image


@pytest.fixture(scope="module")
def docker() -> DockerClient:
    return DockerClient()


def run(docker: DockerClient, *command: str, **options: object) -> str:
    return docker.run(IMAGE, command, remove=True, **options)


def test_user_port_volumes_and_entry_point(docker: DockerClient) -> None:
    config = docker.image.inspect(IMAGE).config
    assert config.user == "appuser"
    assert "9092/tcp" in config.exposed_ports
    assert set(config.volumes) == {
        "/etc/kafka/secrets",
        "/mnt/shared/config",
        "/var/lib/kafka/data",
    }
    assert config.entrypoint == ["/__cacert_entrypoint.sh"]
    assert config.cmd == ["/etc/kafka/docker/run"]
    assert run(docker, "id", "-u") == "1000"


def test_the_user_may_write_where_kafka_does(docker: DockerClient) -> None:
    for folder in ("/var/lib/kafka/data", "/etc/kafka/secrets", "/opt/kafka/config"):
        run(docker, "test", "-w", folder)


def test_every_tool_of_the_course_is_there(docker: DockerClient) -> None:
    scripts = run(docker, "ls", "/opt/kafka/bin").split()
    assert {f"{name}.sh" for name in CLASSES} <= set(scripts)
    assert {"kafka-run-class.sh", "kafka-server-start.sh"} <= set(scripts)


@pytest.mark.parametrize(
    ("archive", "call"),
    [
        ("kafka", ("kafka.Kafka", "--version")),
        ("storage", ("kafka.tools.StorageTool", "random-uuid")),
    ],
)
def test_classes_come_from_the_archive(
    docker: DockerClient, archive: str, call: tuple[str, str]
) -> None:
    flags = f"-XX:SharedArchiveFile=/opt/kafka/{archive}.jsa -Xlog:class+load"
    said = run(
        docker,
        *("/opt/kafka/bin/kafka-run-class.sh", *call),
        envs={"KAFKA_JVM_PERFORMANCE_OPTS": flags},
    )
    loaded = next(line for line in said.splitlines() if f" {call[0]} source:" in line)
    assert "shared objects file (top)" in loaded


def test_a_controller_with_advertised_listeners_is_refused(docker: DockerClient) -> None:
    with pytest.raises(DockerException) as caught:
        docker.run(
            IMAGE,
            remove=True,
            envs={
                "CLUSTER_ID": "a2Fma2EtY291cnNlLTAwMQ",
                "KAFKA_PROCESS_ROLES": "controller",
                "KAFKA_ADVERTISED_LISTENERS": "CONTROLLER://controller:29093",
            },
        )
    assert "not supported on a KRaft controller" in caught.value.stdout


def test_it_starts_with_its_own_settings_and_again(docker: DockerClient) -> None:
    with docker.run(IMAGE, detach=True) as container:
        started = "Kafka Server started"
        for times in (1, 2):
            wait_until(
                lambda times=times: docker.logs(container).count(started) == times,
                timeout=60,
                what=f"{times} starts of Kafka",
                every=0.2,
            )
            if times == 1:
                docker.restart(container, time=20)
        assert "already formatted" in docker.logs(container)


def test_settings_can_come_from_a_mounted_file(docker: DockerClient, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "server.properties").write_text("process.roles=none\n")
    with pytest.raises(DockerException) as caught:
        docker.run(IMAGE, remove=True, volumes=[(tmp_path, "/mnt/shared/config", "ro")])
    assert "process.roles" in caught.value.stdout


def test_an_image_that_is_there_is_not_built_again() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "authoring.image"],
        cwd=places.repository(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.startswith(f"{IMAGE} is here")


def test_what_the_image_is_made_of_names_it() -> None:
    assert build.inputs(IMAGE) == build.inputs(IMAGE)
    assert build.inputs(IMAGE) != build.inputs("apache/kafka:other")
