"""The reader of docker-compose.yml, on the course's own file and on small ones."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from kafkalab import CourseError, places
from kafkalab.engine import compose

SMALL = """
x-base: &base
  image: apache/kafka:4.3.1
x-environment: &environment
  CLUSTER_ID: abc
  KAFKA_A: 1
services:
  one:
    <<: *base
    profiles: [small]
    ports: ["127.0.0.1:${ONE_PORT:-1234}:9092"]
    environment:
      <<: *environment
      KAFKA_A: 2
      KAFKA_B: "x:${ONE_PORT:-1234}:${NAME:-y}"
    volumes: ["data:/var/data"]
    command: run "two words"
  other:
    image: something:else
    profiles: [small, big]
    environment: [A=1, "B=x=y"]
volumes:
  data:
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "docker-compose.yml"
    path.write_text(SMALL)
    return path


def test_variables_are_filled_from_values_or_defaults(small: Path) -> None:
    assert compose.published("small", small) == {"ONE_PORT": 1234}
    default = compose.read("small", path=small).service("one")
    assert default.ports == (compose.Port("127.0.0.1", 1234, 9092),)
    other = compose.read("small", {"ONE_PORT": 99, "NAME": "z"}, small).service("one")
    assert other.ports[0].host == 99
    assert other.environment["KAFKA_B"] == "x:99:z"


def test_merged_keys_give_way_to_the_service_s_own(small: Path) -> None:
    one = compose.read("small", path=small).service("one")
    assert dict(one.environment, KAFKA_B="") == {
        "CLUSTER_ID": "abc",
        "KAFKA_A": "2",
        "KAFKA_B": "",
    }
    assert one.image == "apache/kafka:4.3.1"


def test_all_parts_of_a_service_are_read(small: Path) -> None:
    one = compose.read("small", path=small).service("one")
    assert one.command == ("run", "two words")
    assert one.volumes == (compose.Volume("data", "/var/data"),)
    assert compose.read("big", path=small).service("other").environment == {"A": "1", "B": "x=y"}


def test_a_profile_or_service_that_is_not_there_is_named(small: Path) -> None:
    assert compose.profiles(small) == ["small", "big"]
    with pytest.raises(CourseError, match=r"(?s)no cluster called 'tiny'.*small, big"):
        compose.read("tiny", path=small)
    with pytest.raises(CourseError, match=r"(?s)no service 'two'.*one, other"):
        compose.read("small", path=small).service("two")


def test_settings_become_variables_of_kafka_nodes_only() -> None:
    description = compose.read("replicated").with_settings({"log.retention.ms": "5", "a_b-c": "d"})
    for service in description.services:
        assert service.environment["KAFKA_LOG_RETENTION_MS"] == "5"
        assert service.environment["KAFKA_A__B___C"] == "d"


@pytest.mark.parametrize("name", ["a.b", "a.b_c-d.e", "listener.name.client.ssl.keystore"])
def test_a_setting_and_its_variable_are_two_forms_of_one_name(name: str) -> None:
    assert compose.setting_name(compose.setting_variable(name)) == name


@pytest.mark.parametrize("profile", compose.profiles())
def test_each_profile_of_the_course_is_sound(profile: str) -> None:
    description = compose.read(profile)
    file = places.repository() / "docker-compose.yml"
    written = yaml.safe_load(file.read_text("utf-8"))["services"]
    assert description.brokers
    assert description.controllers
    assert description.addresses.keys() == description.brokers.keys()
    ports = [port for service in description.services for port in service.ports]
    assert {port.address for port in ports} == {"127.0.0.1"}
    assert len({port.host for port in ports}) == len(ports)
    for service in description.services:
        assert "healthcheck" in written[service.name], f"{service.name} has no health check"
        assert not service.image.endswith(":latest")


@pytest.mark.docker
@pytest.mark.parametrize("profile", compose.profiles())
def test_docker_reads_the_file_as_we_do(profile: str) -> None:
    docker = shutil.which("docker")
    assert docker
    printed = subprocess.run(
        [docker, "compose", "--profile", profile, "config", "--format", "json"],
        cwd=places.repository(),
        env={k: v for k, v in os.environ.items() if not k.endswith("_PORT")},
        capture_output=True,
        check=True,
    )
    theirs = json.loads(printed.stdout)["services"]
    ours = compose.read(profile)
    assert {service.name for service in ours.services} == theirs.keys()
    for service in ours.services:
        assert dict(service.environment) == theirs[service.name]["environment"]
        assert [(p.address, p.host, p.container) for p in service.ports] == [
            (p["host_ip"], int(p["published"]), p["target"])
            for p in theirs[service.name].get("ports", [])
        ]
