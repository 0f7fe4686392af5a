"""From a container's environment to server.properties, compared with the official image's code."""

import os
import subprocess
from pathlib import Path

import pytest

from kafkalab.engine import compose, properties
from kafkalab.java.jars import jars
from kafkalab.java.runtime import java

ODD = {
    "KAFKA_HEAP_OPTS": "-Xmx1m",
    "KAFKA_OPTS": "-Dx=y",
    "KAFKA_JMX_OPTS": "-Dcom.sun",
    "KAFKA_LOG4J_ROOT_LOGLEVEL": "INFO",
    "KAFKA_A__B___C_D": "under_score-dash.dot",
    "KAFKA_LISTENER_NAME_X____Y": "four",
    "OTHER": "not ours",
    "CLUSTER_ID": "abc",
}


@pytest.mark.slow  # a JVM
def test_translation_is_that_of_the_official_image(tmp_path: Path) -> None:
    # One JVM for everything that any node of the course is told.
    every = [service for name in compose.profiles() for service in compose.read(name).kafka]
    environment = dict(ODD)
    for service in every:
        environment |= service.environment
    folders = [tmp_path / name for name in ("default", "mounted", "final")]
    for folder in folders:
        folder.mkdir()
    for name in ("log4j2.yaml", "tools-log4j2.yaml", "server.properties"):
        (folders[0] / name).write_text("Configuration: {}\n" if name.endswith("yaml") else "")
    wrapper = [str(java().executable), "-XX:TieredStopAtLevel=1", "-cp"]
    subprocess.run(
        [
            *wrapper,
            os.pathsep.join(map(str, jars("kafka"))),
            "kafka.docker.KafkaDockerWrapper",
            "setup",
            *("--default-configs-dir", str(folders[0])),
            *("--mounted-configs-dir", str(folders[1])),
            *("--final-configs-dir", str(folders[2])),
        ],
        env=environment,
        check=False,  # it formats a disk at last, at a path of the container
        capture_output=True,
    )
    theirs = properties.read((folders[2] / "server.properties").read_text())
    assert properties.translate(environment) == theirs


def test_addresses_and_folders_of_the_container_become_ours() -> None:
    service = compose.Service(
        name="broker-1",
        image="apache/kafka:4.3.1",
        command=(),
        environment={"KAFKA_LOG_DIRS": "/data/a,/data/b"},
        ports=(compose.Port("127.0.0.1", 9093, 9092),),
        volumes=(),
    )
    ports = {("broker-1", 9092): 9093, ("broker-1", 19092): 50, ("broker-10", 29093): 51}
    behind = {("broker-1", 9092): 60, ("broker-1", 19092): 61}
    local = properties.localise(
        {
            "listeners": "INNER://:19092,CLIENT://0.0.0.0:9092",
            "advertised.listeners": "INNER://broker-1:19092,CLIENT://127.0.0.1:9093",
            "controller.quorum.voters": "100@broker-10:29093",
            "log.dirs": "/data/a,/data/b",
            "note": "my-broker-1:19092x",
        },
        service,
        names=frozenset({"broker-1", "broker-10"}),
        port=lambda name, port: ports[name, port],
        bind=lambda name, port: behind[name, port],
        folder=lambda text: text.replace("/data", "/slot/data"),
    )
    assert local["listeners"] == "INNER://127.0.0.1:61,CLIENT://127.0.0.1:60"
    assert local["advertised.listeners"] == "INNER://127.0.0.1:50,CLIENT://127.0.0.1:9093"
    assert local["controller.quorum.voters"] == "100@127.0.0.1:51"
    assert local["note"] == "my-broker-1:19092x"
    assert local["log.dirs"] == "/slot/data/a,/slot/data/b"


def test_what_is_written_is_what_java_reads() -> None:
    entries = {"plain": "value", "path": "C:\\temp", "empty": "", "umlaut": "ü", "clef": "𝄞"}
    text = properties.write(entries)
    assert text.isascii()
    assert "C:\\\\temp" in text
    assert "umlaut=\\u00fc\n" in text
    assert "clef=\\ud834\\udd1e\n" in text
    assert properties.read("# remark\nname = value=with=signs\n\n") == {"name": "value=with=signs"}


def test_what_is_written_is_read_as_it_was() -> None:
    entries = {"path": "/home/hömé 中😀/ x", "c": "C:\\new", "lines": "a\nb\r\tc", "gap": " a "}
    assert properties.read(properties.write(entries)) == entries
    assert properties.read("# as Kafka writes\nid=a\\:b\\=c\n") == {"id": "a:b=c"}
