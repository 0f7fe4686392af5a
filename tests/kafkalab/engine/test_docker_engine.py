"""What is particular to the Docker engine; what both engines do is in the contract tests."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kafkalab.cluster import inventory
from kafkalab.cluster.cluster import Cluster
from kafkalab.engine import compose, docker_owned
from kafkalab.engine import slot as slots
from kafkalab.engine.docker import DockerEngine, clean
from kafkalab.engine.docker_owned import LABEL
from kafkalab.engine.slot import Slot
from kafkalab.errors import CourseError
from kafkalab.wait import WaitTimeout, wait_until

pytestmark = [pytest.mark.docker, pytest.mark.cluster]

OWNER = """
import sys
from kafkalab import Cluster
cluster = Cluster.start("single", engine="docker")
print("folder", cluster.slot.folder, flush=True)
sys.stdin.read()
"""

# Another program that copies a part of a node's disk, over and over, until its input ends.
LOOKS = """
import sys, threading
from kafkalab import Cluster
cluster = Cluster.attach(sys.argv[1])
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
copies = 0
while not over.is_set():
    assert cluster.engine.storage("broker", "__cluster_metadata-0", indexes=False)
    copies += 1
    if copies == 1:
        print("looks", flush=True)
print(copies)
"""
FREEZES = 15


def docker(*arguments: str) -> str:
    return subprocess.run(
        ["docker", *arguments], check=True, capture_output=True, text=True, timeout=120
    ).stdout


def owned(folder: object) -> list[str]:
    label = f"label={LABEL}={folder}"
    return [
        *docker("container", "ls", "--all", "--quiet", "--filter", label).split(),
        *docker("volume", "ls", "--quiet", "--filter", label).split(),
        *docker("network", "ls", "--quiet", "--filter", label).split(),
    ]


@pytest.fixture(scope="module")
def single() -> Iterator[Cluster]:
    settings = {"log.retention.ms": "12345000", "sasl.kerberos.service.name": "a$b${c}"}
    with Cluster.start("single", engine="docker", settings=settings) as cluster:
        yield cluster


@pytest.fixture
def slot() -> Iterator[Slot]:
    slot = Slot.take(compose.published("single"), clean)
    yield slot
    clean(slot.folder)
    slot.release()


def test_only_this_machine_reaches_the_ports(single: Cluster) -> None:
    (container,) = docker(
        "ps", "--quiet", "--filter", f"label={LABEL}={single.slot.folder}"
    ).split()
    bindings = json.loads(
        docker("inspect", "--format", "{{json .NetworkSettings.Ports}}", container)
    )
    hosts = {bound["HostIp"] for port in bindings.values() for bound in port or []}
    assert hosts == {"127.0.0.1"}


def test_the_first_process_of_a_container_is_the_node_itself(single: Cluster) -> None:
    """It alone gets SIGKILL. Below another, a node that was frozen wrote down 50 more records."""
    (container,) = docker(
        "ps", "--quiet", "--filter", f"label={LABEL}={single.slot.folder}"
    ).split()
    assert docker("exec", container, "cat", "/proc/1/comm") == "java\n"


def test_the_project_carries_the_number_of_the_slot(single: Cluster) -> None:
    project = f"label=com.docker.compose.project=kafkalab-{single.slot.number}"
    assert docker("ps", "--quiet", "--filter", project).split()


def test_settings_reach_the_broker_as_they_are(single: Cluster) -> None:
    said = single.tool(
        *("kafka-configs", "--bootstrap-server", "{bootstrap}"),
        *("--entity-type", "brokers", "--entity-name", "0", "--describe", "--all"),
    )
    assert "log.retention.ms=12345000 " in said.stdout
    assert "sasl.kerberos.service.name=a$b${c} " in said.stdout


def test_a_tool_reads_a_file_of_this_machine(single: Cluster, tmp_path: Path) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text("client.id=from-a-file\nrequest.timeout.ms=none\n")
    settings.chmod(0o600)
    said = single.tool(
        *("kafka-topics", "--bootstrap-server", "{bootstrap}", "--list"),
        *("--command-config", str(settings)),
    )
    assert said.returncode == 1
    assert "Invalid value none for configuration request.timeout.ms" in str(said)


def test_a_tool_that_is_late_ends_inside_the_container_too(single: Cluster) -> None:
    late = ("kafka-console-consumer", "--bootstrap-server", "{bootstrap}", "--topic", "none")
    with pytest.raises(WaitTimeout, match="kafka-console-consumer"):
        single.tool(*late, timeout=3)
    (container,) = docker(
        "ps", "--quiet", "--filter", f"label={LABEL}={single.slot.folder}"
    ).split()

    def ended() -> bool:
        return "ConsoleConsumer" not in docker("top", container, "-eo", "pid,args")

    wait_until(ended, timeout=15, what="the tool to end in the container")


def test_tools_and_the_disk_can_be_used_when_no_node_runs(single: Cluster) -> None:
    assert single.engine.states() == {"broker": "running"}
    single.kill(0)
    assert single.engine.states() == {"broker": "exited"}
    said = single.tool("kafka-storage", "random-uuid")
    assert (said.returncode, len(said.stdout.strip())) == (0, 22)
    disk = single.engine.storage("broker")
    assert disk is not None
    log = disk / "__cluster_metadata-0" / f"{0:020}.log"
    assert log.stat().st_size > 0
    dumped = single.tool("kafka-dump-log", "--files", str(log), "--cluster-metadata-decoder")
    assert "REGISTER_BROKER_RECORD" in dumped.stdout
    assert "exit code 137. SIGKILL ended it." in single.logs(0)
    single.restart(0)


def test_the_copy_of_a_disk_takes_no_room_for_what_is_empty(single: Cluster) -> None:
    disk = single.engine.storage("broker")
    files = [path.stat() for path in disk.rglob("*") if path.is_file()]
    # Each partition reserves two indexes of 10 MB.
    reserved = sum(file.st_size for file in files)
    assert reserved > 20_000_000
    assert sum(file.st_blocks * 512 for file in files) < reserved / 10


def test_a_log_is_looked_at_again_in_one_call_and_without_its_indexes(
    single: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = single.engine
    assert isinstance(engine, DockerEngine)
    assert engine.states() == {"broker": "running"}
    find, asked = engine._find_all, []

    def counted(*labels: str) -> dict[str, tuple[str, str]]:
        asked.append(threading.current_thread())
        return find(*labels)

    monkeypatch.setattr(engine, "_find_all", counted)
    disk = engine.storage("broker", "__cluster_metadata-0", indexes=False)
    assert disk is not None
    files = {path.suffix for path in (disk / "__cluster_metadata-0").iterdir()}
    assert ".log" in files
    assert not files & {".index", ".timeindex"}
    # The thread beside a copy that takes long asks whether the container goes on.
    assert threading.current_thread() not in asked


@pytest.mark.parametrize("undo", ["pause", "kill"])
def test_a_disk_is_copied_also_where_its_node_is_frozen_or_killed_at_that_moment(
    single: Cluster, monkeypatch: pytest.MonkeyPatch, undo: str
) -> None:
    engine = single.engine
    assert isinstance(engine, DockerEngine)
    find = engine._find
    asked: list[str] = []

    def was_running(service: str) -> tuple[str, str]:
        """What was found a moment before the fault."""
        asked.append(service)
        container, state = find(service)
        return container, "running" if len(asked) == 1 else state

    getattr(single, undo)(0)
    monkeypatch.setattr(engine, "_find", was_running)
    disk = engine.storage("broker", "__cluster_metadata-0")
    monkeypatch.undo()
    assert disk is not None
    assert (disk / "__cluster_metadata-0" / f"{0:020}.log").stat().st_size > 0
    assert engine.storage("broker", "no-such-topic-0") is None
    single.mend()


def test_a_node_is_frozen_while_other_programs_begin_in_it(single: Cluster) -> None:
    """Frozen while one began, a container answered nobody again. Without care: the fifth time."""
    own = [sys.executable, "-c"]
    looking = [[*own, LOOKS, str(single.slot.record)] for _ in range(3)]
    pipe, others = subprocess.PIPE, []
    with contextlib.ExitStack() as ending:
        for command in looking:
            other = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
            others.append(ending.enter_context(other))
            ending.callback(other.kill)
        assert [other.stdout.readline() for other in others] == ["looks\n"] * 3
        for _ in range(FREEZES):
            single.pause(0)
            assert single.state(0) == "paused"
            single.resume(0)
        for other in others:
            seen, _ = other.communicate("", timeout=60)
            assert int(seen) > 0
    assert single.state(0) == "running"
    assert single.tool("kafka-storage", "random-uuid").returncode == 0


def test_docker_itself_begins_no_program_in_a_node(single: Cluster) -> None:
    (container,) = docker(
        "ps", "--quiet", "--filter", f"label={LABEL}={single.slot.folder}"
    ).split()
    assert docker("inspect", "--format", "{{json .Config.Healthcheck.Test}}", container) == (
        '["NONE"]\n'
    )


def test_everything_goes_when_the_owner_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        said = owner.stdout.readline()
        while said and not said.startswith("folder "):  # a note on a port that is taken
            said = owner.stdout.readline()
        folder = said.removeprefix("folder ").strip()
        assert len(owned(folder)) == 3
        owner.kill()
    wait_until(lambda: not owned(folder), timeout=30, what="the containers of a dead owner to end")
    wait_until(lambda: not Path(folder).exists(), timeout=10, what="its folder to go")


def test_nothing_without_our_label_is_touched(slot: Slot) -> None:
    volume = docker("volume", "create", "--label", f"{LABEL}=/another/slot").strip()
    try:
        mine = docker("volume", "create", "--label", f"{LABEL}={slot.folder}").strip()
        clean(slot.folder)
        volumes = docker("volume", "ls", "--quiet").split()
        assert volume in volumes
        assert mine not in volumes
    finally:
        docker("volume", "rm", volume)


def test_containers_of_another_user_with_the_same_slot_are_left_alone(slot: Slot) -> None:
    project = f"com.docker.compose.project={slot.project}"
    image = compose.read("single").kafka[0].image
    container = docker("create", "--label", project, image).strip()
    try:
        engine = DockerEngine(compose.read("single", slot.ports), slot, {})
        with pytest.raises(CourseError, match="containers of another user"):
            engine.up()
    finally:
        docker("rm", "--volumes", container)


@pytest.fixture
def dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of slot 0, whose owner has died, where no other slot is in use."""
    monkeypatch.setenv("KAFKALAB_STATE", str(tmp_path))
    # Other ports than those of clusters that run beside these tests.
    port = 32_000 + os.getpid() % 1_000
    monkeypatch.setattr(compose, "published", lambda _: {"KAFKALAB_BROKER_PORT": port})
    monkeypatch.setattr(slots, "FIRST_PORT", 21_000)
    folder = tmp_path / "slot-0"
    folder.mkdir()
    (folder / "engine").write_text("docker")
    return folder


@pytest.mark.parametrize("with_folder", [True, False])
def test_a_slot_whose_rest_docker_does_not_remove_is_told_and_passed_over(
    dead: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    with_folder: bool,
) -> None:
    """A container of the learner's own uses the network of a dead cluster.

    Without its folder: Docker did not run when the slot was cleaned up.
    """
    monkeypatch.setattr(docker_owned, "SECONDS_TO_GO", 3.0)
    image = compose.read("single").kafka[0].image
    network = f"kafkalab-test-{os.getpid()}-{with_folder}"
    docker("network", "create", "--label", f"{LABEL}={dead}", network)
    using = ("--detach", "--network", network, "--entrypoint", "sleep")
    try:
        used = docker("run", *using, image, "600").strip()
        if not with_folder:
            shutil.rmtree(dead)
        with Cluster.start("single", engine="docker") as cluster:
            assert cluster.slot.number > 0
        told = capsys.readouterr().out
        assert "Slot 0 is passed over. What a cluster left in slot 0 cannot be removed." in told
        assert "has active endpoints" in told
        assert "Then: ./course down --slot 0" in told
        # The next one need not try.
        tried: list[Path] = []
        taken = Slot.take(compose.published("single"), tried.append)
        assert taken.number > 0
        assert dead not in tried
        taken.release()
        (left,) = inventory.clusters()
        with pytest.raises(CourseError, match="has active endpoints"):
            inventory.end(left)
    finally:
        docker("rm", "--force", "--volumes", used)
    inventory.end(left)
    assert not dead.exists()
    assert owned(dead) == []


def test_another_user_of_the_same_docker_has_the_slot(
    dead: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = "com.docker.compose.project=kafkalab-0"
    image = compose.read("single").kafka[0].image
    container = docker("create", "--label", project, image).strip()
    try:
        with Cluster.start("single", engine="docker") as cluster:
            assert cluster.slot.number > 0
    finally:
        docker("rm", "--volumes", container)
    assert "Slot 0 is passed over. Docker has containers of another user" in capsys.readouterr().out
    assert inventory.clusters() == []


def test_a_stopped_docker_is_named(slot: Slot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{slot.folder}/nobody.sock")
    engine = DockerEngine(compose.read("single", slot.ports), slot, {})
    with pytest.raises(CourseError, match="Docker is installed, but it is not running"):
        engine.up()
    clean(slot.folder)


def test_a_missing_docker_is_named(slot: Slot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(slot.folder))
    engine = DockerEngine(compose.read("single", slot.ports), slot, {})
    with pytest.raises(CourseError, match="Docker is not installed"):
        engine.up()
    clean(slot.folder)


def test_a_missing_compose_is_named(
    slot: Slot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    client = tmp_path / "docker"
    client.write_text(
        "#!/bin/sh\n"
        "[ $1 != compose ] && exec echo linux/amd64\n"
        "echo 'docker: unknown command: docker compose' >&2\n"
        "exit 1\n"
    )
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    engine = DockerEngine(compose.read("single", slot.ports), slot, {})
    with pytest.raises(CourseError, match="Docker Compose is not installed"):
        engine.up()


def with_image(slot: Slot, image: str) -> DockerEngine:
    described = compose.read("single", slot.ports)
    services = tuple(replace(service, image=image) for service in described.services)
    return DockerEngine(replace(described, services=services), slot, {})


def test_a_registry_that_is_not_reached_is_named(slot: Slot) -> None:
    with pytest.raises(CourseError, match="its registry is not reached"):
        with_image(slot, "127.0.0.1:9/kafka:1").up()


def test_an_image_for_another_processor_is_refused(slot: Slot) -> None:
    machine = docker("version", "--format", "{{.Server.Arch}}").strip()
    other = "s390x" if machine != "s390x" else "amd64"
    image = "kafkalab-test:other-processor"
    described = {"architecture": other, "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}}
    saved = slot.folder / "image.tar"
    with tarfile.open(saved, "w") as tar:
        for name, content in (
            ("config.json", described),
            ("manifest.json", [{"Config": "config.json", "RepoTags": [image], "Layers": []}]),
        ):
            data = json.dumps(content).encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    docker("load", "--input", str(saved))
    try:
        with pytest.raises(CourseError, match=f"made for linux/{other}"):
            with_image(slot, image).up()
    finally:
        docker("image", "rm", image)
