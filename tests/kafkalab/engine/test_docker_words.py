"""The Docker engine's parts that need no Docker: plain words for failures, files as tar streams."""

import io
import sys
import tarfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafkalab.cluster import segments
from kafkalab.engine import docker_files
from kafkalab.engine.docker_failures import explain

SOCKET = "unix:///var/run/docker.sock"
SAID = [
    (
        f"permission denied while trying to connect to the Docker daemon socket at {SOCKET}: Get "
        '"http://%2Fvar%2Frun%2Fdocker.sock/v1.50/version": dial unix /var/run/docker.sock: '
        "connect: permission denied",
        "you may not use it",
    ),
    (
        f"Cannot connect to the Docker daemon at {SOCKET}. Is the docker daemon running?",
        "it is not running",
    ),
    (
        "docker: unknown command: docker compose\n\nRun 'docker --help' for more information",
        "Compose is not installed",
    ),
    ("unknown flag: --short\nSee 'docker --help'.", "Compose is not installed"),
    (
        'Error response from daemon: Get "https://registry.example/v2/": dial tcp: lookup '
        "registry.example on 127.0.0.53:53: no such host",
        "its registry is not reached",
    ),
    (
        "Error response from daemon: manifest for apache/kafka:0 not found: manifest unknown",
        "does not have the image",
    ),
    (
        "toomanyrequests: You have reached your unauthenticated pull rate limit.",
        "does not hand out more images",
    ),
    (
        "no matching manifest for linux/riscv64 in the manifest list entries",
        "does not exist for the processor",
    ),
    (
        "Error response from daemon: driver failed programming external connectivity on endpoint "
        "kafkalab-0-broker-1: Bind for 127.0.0.1:9092 failed: port is already allocated",
        "A port of the cluster is taken",
    ),
    ("write /var/lib/docker/tmp/x: no space left on device", "is full"),
    ("exec /__cacert_entrypoint.sh: exec format error", "another kind of processor"),
]


@pytest.mark.parametrize(("said", "expected"), SAID)
def test_known_failures_have_plain_words(said: str, expected: str) -> None:
    error = explain(said)
    assert expected in error.what
    assert error.mend


def test_the_reason_names_what_docker_names() -> None:
    assert "The port is 127.0.0.1:9092." in explain(SAID[8][0]).why
    assert "linux/riscv64" in explain(SAID[7][0]).why


def test_an_unknown_failure_is_quoted() -> None:
    assert explain("first\nError: the moon is full\n").why == "It says: Error: the moon is full"
    assert explain("").why == "It says: nothing"


def archive(entries: dict[str, bytes]) -> io.BufferedReader:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    stream.seek(0)
    return io.BufferedReader(stream)


def test_what_is_unpacked_is_what_was_packed(tmp_path: Path) -> None:
    data = bytes(3_000_000) + b"in the middle" + bytes(2_000_000)
    docker_files.unpack(
        archive({"data/t-0/a.index": data, "data/b": b""}), tmp_path / "copy", drop=1
    )
    assert (tmp_path / "copy" / "t-0" / "a.index").read_bytes() == data
    assert (tmp_path / "copy" / "b").read_bytes() == b""


def test_a_second_copy_has_nothing_of_the_first(tmp_path: Path) -> None:
    docker_files.unpack(archive({"data/old": b"1"}), tmp_path / "copy", drop=1)
    docker_files.unpack(archive({"data/new": b"2"}), tmp_path / "copy", drop=1)
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["new"]
    docker_files.unpack(io.BufferedReader(io.BytesIO()), tmp_path / "copy", drop=1)
    assert not any((tmp_path / "copy").iterdir())


def test_no_entry_leaves_the_folder(tmp_path: Path) -> None:
    docker_files.unpack(
        archive({"data/../../outside": b"1", "data/in": b"2"}), tmp_path / "copy", drop=1
    )
    assert not (tmp_path / "outside").exists()
    assert (tmp_path / "copy" / "in").exists()


def test_files_among_the_arguments_are_sent_along(tmp_path: Path) -> None:
    first, second = tmp_path / "one.log", tmp_path / "two.log"
    first.write_text("1")
    second.write_text("2")
    arguments = ["--files", f"{first},{second}", "--topic", "a,b", "/nowhere"]
    sent, files = docker_files.inbox(arguments)
    assert [sent[0], *sent[2:]] == ["--files", "--topic", "a,b", "/nowhere"]
    with tarfile.open(fileobj=io.BytesIO(files)) as tar:
        names = [entry.name for entry in tar if entry.isfile()]
    assert sent[1] == ",".join(f"/tmp/{name}" for name in names)
    assert docker_files.inbox(["--list"]) == (["--list"], b"")


@pytest.mark.process
def test_who_looks_at_a_disk_at_the_same_time_takes_nothing_away_from_others(
    tmp_path: Path,
) -> None:
    """A lab's cell and the fault beside it ask for one partition over and over."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for number in range(20):
            entry = tarfile.TarInfo(f"t-0/{number:020}.log")
            entry.size = 1 << 16
            tar.addfile(entry, io.BytesIO(bytes(entry.size)))
    both = threading.Barrier(2)

    def look(_: int) -> list[int]:
        folder = docker_files.own_copy(tmp_path, "broker-0")
        both.wait(10)
        seen = []
        for _ in range(30):
            stream = io.BufferedReader(io.BytesIO(archive.getvalue()))
            docker_files.unpack(stream, folder / "data", drop=0)
            seen.append(len(segments.segments(folder / "data" / "t-0")))
        return seen

    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(look, range(2))] == [[20] * 30] * 2


WRITES = (
    "import sys; sys.stdout.buffer.write(open({file!r}, 'rb').read()[:{bytes}]); sys.exit({ends})"
)


def writer(tmp_path: Path, size: int, ends: int) -> list[str]:
    """A process that writes so much of an archive with two files, and ends with this status."""
    file = tmp_path / "archive"
    file.write_bytes(archive({"data/a": b"1", "data/b": b"2"}).read())
    return [sys.executable, "-c", WRITES.format(file=str(file), bytes=size, ends=ends)]


@pytest.mark.parametrize(("size", "ends"), [(1 << 20, 0), (1 << 20, 1), (0, 2), (0, 137)])
def test_a_copy_is_whole_where_all_or_nothing_came(tmp_path: Path, size: int, ends: int) -> None:
    """1 is what tar says where a file has grown, 2 where there is none."""
    copy = tmp_path / "copy"
    docker_files.copied(writer(tmp_path, size, ends), copy, 1, 30, lambda: True)
    assert sorted(path.name for path in copy.iterdir()) == (["a", "b"] if size else [])


@pytest.mark.parametrize(("size", "ends"), [(1_024, 137), (600, 0), (1_200, 137), (1 << 20, 137)])
def test_a_copy_that_broke_off_is_told(tmp_path: Path, size: int, ends: int) -> None:
    """Between two files it looks like an archive that is over."""
    with pytest.raises(tarfile.ReadError):
        docker_files.copied(writer(tmp_path, size, ends), tmp_path / "copy", 1, 30, lambda: True)


@pytest.mark.process
def test_nobody_waits_for_what_stands_still(tmp_path: Path) -> None:
    started = time.monotonic()
    docker_files.copied(["tail", "-f", "/dev/null"], tmp_path / "copy", 1, 60, lambda: False)
    assert time.monotonic() - started < 30
    assert list((tmp_path / "copy").iterdir()) == []
