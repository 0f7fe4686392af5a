"""One node: its settings as it was given them and as it tells them, and Kafka's own programs."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkalab import Cluster, environment
from kafkalab.engine import java_command, storage
from kafkalab.engine import properties as property_files

pytestmark = pytest.mark.cluster

GONE = ("port", "host.name", "advertised.host.name", "advertised.port", "zookeeper.connect")
SAME = {
    "background.threads": "10",
    "connections.max.idle.ms": "600000",
    "controlled.shutdown.enable": "true",
    "delete.topic.enable": "true",
    "auto.leader.rebalance.enable": "true",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.start("single", engine="process", timeout=120, beside=True) as running:
        yield running


def test_the_settings_that_a_node_is_given_are_those_of_today(cluster: Cluster) -> None:
    given = property_files.read((cluster.slot.folder / "broker" / "server.properties").read_text())
    assert given["process.roles"] == "broker,controller"
    assert given["node.id"] == "0"
    assert given["controller.quorum.voters"].startswith("0@127.0.0.1:")
    assert given["controller.listener.names"] == "CONTROLLER"
    assert not {*GONE, "broker.id"} & given.keys()


def test_what_a_broker_was_given_it_tells_when_asked(cluster: Cluster) -> None:
    given = property_files.read((cluster.slot.folder / "broker" / "server.properties").read_text())
    told = {name: one.value for name, one in cluster.broker_configs(0).items()}
    differing = {name: (value, told.get(name)) for name, value in given.items()}
    # Settings that are internal to Kafka are not told at all.
    differing = {n: both for n, both in differing.items() if n in told and both[0] != both[1]}
    assert not differing
    assert len(given.keys() & told.keys()) > 15, given.keys() - told.keys()
    assert {name: told[name] for name in SAME} == SAME
    assert not {*GONE, "controlled.shutdown.max.retries"} & told.keys()


def test_a_disk_of_another_cluster_is_refused_with_its_reason(tmp_path: Path) -> None:
    storage.format_with_kafka(tmp_path, {"node.id": "0"})
    command = java_command.tool("kafka.tools.StorageTool", tmp_path)
    again = ["format", "--cluster-id", "b3RoZXJjbHVzdGVyMDAwMQ", "--config"]
    done = subprocess.run(
        [*command, *again, str(tmp_path / "server.properties")],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment.for_java(),
    )
    assert done.returncode != 0, done.stdout
    assert "Invalid cluster.id in" in done.stderr
    assert "Expected b3RoZXJjbHVzdGVyMDAwMQ, but read" in done.stderr


@pytest.mark.parametrize(
    ("script", "flags", "removed"),
    [
        ("kafka-topics", ("--list",), ("--zookeeper", "127.0.0.1:1")),
        ("kafka-console-producer", ("--topic", "rides"), ("--broker-list", "127.0.0.1:1")),
        ("kafka-console-consumer", ("--topic", "rides"), ("--zookeeper", "127.0.0.1:1")),
        ("kafka-console-consumer", ("--topic", "rides"), ("--new-consumer",)),
    ],
)
def test_flags_that_are_gone_are_refused_by_name(
    cluster: Cluster, script: str, flags: tuple[str, ...], removed: tuple[str, ...]
) -> None:
    done = cluster.tool(script, "--bootstrap-server", "{bootstrap}", *flags, *removed)
    assert done.returncode != 0, done.stdout
    assert f"{removed[0].removeprefix('--')} is not a recognized option" in str(done)


def test_todays_flags_of_the_console_tools(cluster: Cluster) -> None:
    connect = ("--bootstrap-server", "{bootstrap}")
    made = cluster.tool(
        "kafka-topics", *connect, "--create", "--topic", "my-topic", "--partitions", "13"
    )
    assert made.returncode == 0, str(made)
    typed = ("--topic", "my-topic", "--reader-property", "parse.key=true")
    sent = cluster.tool("kafka-console-producer", *connect, *typed, stdin="1\tone\n2\ttwo\n")
    assert sent.returncode == 0, str(sent)
    bounds = ("--topic", "my-topic", "--from-beginning", "--max-messages", "2")
    shown = cluster.tool(
        "kafka-console-consumer", *connect, *bounds, "--formatter-property", "print.key=true"
    )
    assert sorted(shown.stdout.split("\n")[:2]) == ["1\tone", "2\ttwo"], str(shown)
    view = cluster.topic("my-topic")
    assert [len(one.replicas) for one in view.partitions] == [1] * 13
