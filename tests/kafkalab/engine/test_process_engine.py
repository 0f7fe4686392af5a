"""What only local processes can get wrong: leftovers, strangers' ports, open doors."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from kafka import KafkaAdminClient

from kafkalab import Cluster, CourseError, engine, places, quick, wait_until
from kafkalab.cluster import inventory, wire
from kafkalab.engine import compose, java_command, process, storage
from kafkalab.engine import marked as processes
from kafkalab.engine import properties as property_files
from kafkalab.engine.slot import Slot

# Starts a cluster, says where it is, and does as it is told.
OWNER = """
import json, os, signal, sys
from kafkalab import Cluster
signal.signal(signal.SIGINT, lambda *_: print("interrupted", flush=True))
cluster = Cluster.start("single", engine="process")
if "fork" in sys.argv and os.fork() == 0:
    os.closerange(0, 3)
    while True:
        signal.pause()
print(json.dumps({"folder": str(cluster.slot.folder), "address": cluster.address}), flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def starting(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=places.repository(),
        start_new_session=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


@contextlib.contextmanager
def owner(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], Path, str]]:
    with starting(*arguments) as child:
        yield child, *facts_of(child)


def facts_of(child: subprocess.Popen[str]) -> tuple[Path, str]:
    """Folder and address of the cluster, when it is there."""
    line = said(child)
    while line and not line.startswith("{"):  # a note on a port that is taken
        line = said(child)
    facts = json.loads(line)
    return Path(facts["folder"]), facts["address"]


def said(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def marked(folder: Path) -> list[psutil.Process]:
    return list(processes.marked(f"{java_command.MARK}{folder}"))


@pytest.mark.cluster
@pytest.mark.parametrize("arguments", [(), ("fork",)], ids=["alone", "with a forked child"])
def test_the_death_of_the_owner_leaves_nothing(arguments: tuple[str, ...]) -> None:
    with owner(*arguments) as (child, folder, address):
        assert len(marked(folder)) == 1
        family = psutil.Process(child.pid).children(recursive=True)
        child.kill()
        child.wait()
        wait_until(
            lambda: not folder.exists(), timeout=20, what="the folder to go", seen=folder.exists
        )
        assert marked(folder) == []
        with pytest.raises(wire.NoConnection):
            wire.answering(address)
        for left in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                if "fork" in left.cmdline():
                    left.kill()


@pytest.mark.cluster
def test_an_interrupt_of_the_owner_is_not_for_the_brokers() -> None:
    with owner() as (child, folder, address):
        os.killpg(child.pid, signal.SIGINT)
        assert said(child) == "interrupted"
        assert wire.answering(address) == address
        assert len(marked(folder)) == 1
        child.communicate("", timeout=30)
        assert child.returncode == 0
        assert not folder.exists()


@pytest.mark.cluster
def test_two_owners_at_the_same_moment_never_meet() -> None:
    with starting() as one, starting() as other:
        (first, here), (second, there) = facts_of(one), facts_of(other)
        assert first != second
        assert here != there
        assert len(marked(first)) == len(marked(second)) == 1


@pytest.mark.cluster
def test_everything_listens_on_the_loopback_address_alone() -> None:
    with Cluster.start("single", engine="process") as cluster:
        (node,) = marked(cluster.slot.folder)
        listening = [c.laddr for c in node.net_connections("inet") if c.status == "LISTEN"]
        assert {address.ip.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}
        described = cluster.description.service("broker").environment["KAFKA_LISTENERS"]
        assert len(listening) == len(described.split(","))
        assert os.getsid(node.pid) != os.getsid(0)


@pytest.mark.cluster
def test_a_cluster_kept_for_others_lives_until_it_is_ended() -> None:
    cluster = Cluster.start("single", engine="process")
    cluster.keep()
    address = cluster.address
    cluster.close()
    kept = inventory.choose(number=cluster.slot.number)
    assert kept.kept
    assert wire.answering(address) == address
    with Cluster.attach(kept.record) as attached:
        assert attached.topics() == []
        assert repr(attached).endswith("attached)")
    inventory.end(kept)
    assert not kept.folder.exists()
    with pytest.raises(CourseError, match="There is no cluster"):
        Cluster.attach(kept.slot)


@pytest.mark.cluster
def test_a_cluster_that_was_ended_from_outside_closes_in_peace() -> None:
    cluster = Cluster.start("single", engine="process")
    inventory.end(inventory.choose(number=cluster.slot.number))
    with pytest.raises(CourseError, match="not running"):
        cluster.kill(0)
    cluster.close()


@pytest.mark.cluster
def test_a_quickly_formatted_cluster_has_the_features_of_a_really_formatted_one(
    tmp_path: Path,
) -> None:
    """Both kinds of disk start a node; both nodes must finalize the same feature levels."""
    with Cluster.start("single", engine="process") as cluster:
        service = cluster.description.service("broker")
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            quickly = admin.describe_features()
        file = cluster.slot.folder / "broker" / "server.properties"
        written = property_files.read(file.read_text())
        cluster.kill(0)
        cluster.wipe(0)
        really = storage.format_with_kafka(tmp_path, {"node.id": written["node.id"]})
        meta = property_files.read((really / storage.META).read_text())
        assert meta.keys() == {"cluster.id", "directory.id", "node.id", "version"}
        meta["cluster.id"] = service.environment["CLUSTER_ID"]
        (really / storage.META).write_text(property_files.write(meta))
        really.rename(written["log.dirs"])
        cluster.restart(0)
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            slowly = admin.describe_features()
    finalized = {name: levels.get("finalized") for name, levels in quickly.items()}
    assert finalized == {name: levels.get("finalized") for name, levels in slowly.items()}
    assert finalized.keys() >= {
        "metadata.version",
        "transaction.version",
        "group.version",
        "eligible.leader.replicas.version",
        "share.version",
    }


def test_a_formatted_disk_stays_as_it_is(tmp_path: Path) -> None:
    properties = {"node.id": "7", "log.dirs": f"{tmp_path / 'a'},{tmp_path / 'b'}"}
    storage.format_disk(properties, "cluster")
    first, second = (
        property_files.read((tmp_path / name / storage.META).read_text()) for name in "ab"
    )
    assert first["node.id"] == second["node.id"] == "7"
    assert first["cluster.id"] == "cluster"
    assert first["directory.id"] != second["directory.id"]
    storage.format_disk(properties, "another")
    assert property_files.read((tmp_path / "a" / storage.META).read_text()) == first


def test_a_service_that_is_not_kafka_is_named(tmp_path: Path) -> None:
    service = compose.Service("registry", "some/registry:1", (), {}, (), ())
    with pytest.raises(CourseError, match=r"(?s)registry cannot run.*not some/registry:1"):
        process.ProcessEngine(compose.Description("odd", (service,)), Slot(0, tmp_path, {}), {})


def test_cleaning_up_where_nothing_is_left_does_nothing(tmp_path: Path) -> None:
    processes.clean(tmp_path / "slot-0")
    engine.clean(tmp_path / "slot-0")
    (tmp_path / "engine").touch()  # the owner died while it wrote the name
    engine.clean(tmp_path)


AGAIN = """
import subprocess, sys
mark = sys.stdin.readline().strip()
while True:
    subprocess.run([sys.executable, "-c", "import time; time.sleep(600)", mark])
"""


@pytest.mark.process
def test_processes_that_come_again_are_told_and_their_slot_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKALAB_STATE", str(tmp_path))
    monkeypatch.setattr(processes, "SECONDS_TO_END", 2.0)
    left = tmp_path / "slot-0"
    left.mkdir()
    (left / "engine").write_text("process")
    mark = f"{java_command.MARK}{left}"
    with subprocess.Popen([sys.executable, "-c", AGAIN], stdin=subprocess.PIPE, text=True) as again:
        try:
            again.stdin.write(f"{mark}\n")
            again.stdin.flush()
            wait_until(lambda: any(processes.marked(mark)), timeout=20, what="the first of them")
            taken = Slot.take({}, engine.clean)
        finally:
            again.kill()
    assert taken.number > 0  # others run clusters, too
    assert "Slot 0 is passed over." in taken.notes[0]
    assert "End what starts them, and them: sudo kill -9 " in taken.notes[0]
    taken.release()
    # Nobody starts them any more.
    (leftover,) = inventory.clusters()
    inventory.end(leftover)
    assert not any(processes.marked(mark))
    assert not left.exists()
