"""Java packages are fetched once, verified, repaired, and never half there.

Most tests fetch two small files from a registry that is a folder, named as a company would name its
own; Ivy is the real one. Two slow ones use the public registry.
"""

import fcntl
import hashlib
import json
import os
import resource
import signal
import socketserver
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from kafkalab.errors import CourseError
from kafkalab.java import ivy, jars
from kafkalab.wait import wait_until
from tests.isolation import without_network

HOUSE = """<ivysettings>
  <settings defaultResolver="house"/>
  <resolvers><filesystem name="house">
    <artifact pattern="{folder}/[artifact]-[revision](-[classifier]).[ext]"/>
  </filesystem></resolvers>
</ivysettings>
"""


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A registry in a folder, an empty cache, and a lock file with the set `small`."""
    folder = tmp_path / "house"
    folder.mkdir()
    files = []
    for name in ("one-1.0.jar", "two-2.5-all.tar.gz"):
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("content", name)
        content = (folder / name).read_bytes()
        files.append({"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)})
    files[0]["coordinate"] = "org.example:one:1.0"
    files[1]["coordinate"] = "org.example:two:2.5:all@tar.gz"
    lock_file = tmp_path / "jars.json"
    lock_file.write_text(json.dumps({"small": {"roots": [], "files": files}}))
    settings = tmp_path / "settings.xml"
    settings.write_text(HOUSE.format(folder=folder))
    monkeypatch.setattr(jars, "LOCK_FILE", lock_file)
    monkeypatch.setenv("KAFKALAB_IVY_SETTINGS", str(settings))
    monkeypatch.setenv("KAFKALAB_CACHE", str(tmp_path / "the cache"))
    jars.locked.cache_clear()
    yield folder
    jars.locked.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [lambda content: content[:50], lambda content: bytes([content[0] ^ 1]) + content[1:]],
    ids=["cut", "one changed byte"],
)
def test_a_damaged_file_is_fetched_again_and_named(house, capsys, damage):
    first, second = jars.jars("small")
    assert [first.name, second.name] == ["one-1.0.jar", "two-2.5-all.tar.gz"]
    assert second.read_bytes() == (house / "two-2.5-all.tar.gz").read_bytes()
    before = first.stat()

    first.write_bytes(damage(first.read_bytes()))
    capsys.readouterr()

    assert jars.jars("small") == [first, second]
    said = capsys.readouterr().err
    assert "one-1.0.jar is missing or damaged" in said
    assert "two" not in said
    # Size and date are as before: what Java noted of the file still holds.
    assert (first.stat().st_size, first.stat().st_mtime) == (before.st_size, before.st_mtime)


@pytest.mark.slow
def test_a_wrong_file_from_the_registry_is_refused_and_the_second_try_works(house):
    right = (house / "one-1.0.jar").read_bytes()
    (house / "one-1.0.jar").write_bytes(b"x" * len(right))

    with pytest.raises(jars.DamagedJar, match=r"one-1\.0\.jar arrived damaged"):
        jars.jars("small")
    assert not jars.folder_of("small").exists()

    (house / "one-1.0.jar").write_bytes(right)
    assert jars.jars("small")[0].read_bytes() == right


@pytest.mark.slow
def test_a_stale_half_installed_folder_is_replaced(house):
    stale = jars.folder_of("small").with_name(f".new-{jars.folder_of('small').name}")
    stale.mkdir(parents=True)
    (stale / "rest").touch()

    assert not (jars.jars("small")[0].parent / "rest").exists()


@pytest.mark.slow
def test_no_network_is_named_and_the_second_try_works(house, monkeypatch):
    settings = os.environ["KAFKALAB_IVY_SETTINGS"]
    monkeypatch.delenv("KAFKALAB_IVY_SETTINGS")
    for scheme in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(scheme, "http://127.0.0.1:9")

    with pytest.raises(ivy.NoNetwork) as caught:
        jars.jars("small")
    assert "--bundle" in caught.value.mend

    monkeypatch.setenv("KAFKALAB_IVY_SETTINGS", settings)
    assert len(jars.jars("small")) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "proxy", ["https_proxy=http://{}", "https_proxy={}", "ALL_PROXY={}", "ALL_PROXY=socks5h://{}"]
)
def test_packages_are_fetched_through_whatever_proxy_is_named(house, monkeypatch, proxy):
    monkeypatch.delenv("KAFKALAB_IVY_SETTINGS")
    for name in ("https_proxy", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    asked = threading.Event()

    class Refusing(socketserver.BaseRequestHandler):
        def handle(self):
            asked.set()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        name, _, address = proxy.format(f"127.0.0.1:{server.server_address[1]}").partition("=")
        monkeypatch.setenv(name, address)
        with pytest.raises(CourseError):
            jars.jars("small")
        server.shutdown()

    assert asked.is_set()


@pytest.mark.slow
def test_a_second_process_waits_for_the_first(house):
    jars.jars("small")[0].unlink()
    lock = (jars.folder_of("small").parent / "small.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    code = (
        "from pathlib import Path; from kafkalab.java import jars;"
        f"jars.LOCK_FILE = Path({str(jars.LOCK_FILE)!r}); print(jars.jars('small')[0].exists())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as second:
        assert "waiting for it" in second.stderr.readline()
        assert second.poll() is None
        lock.close()
        assert second.stdout.read().strip() == "True"


FETCH = [sys.executable, "-c", "from kafkalab.java.jars import jars; print(len(jars('kafka')))"]


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.slow
@pytest.mark.machine
def test_a_full_disk_is_named_and_the_second_try_works(tmp_path):
    environment = os.environ | {"KAFKALAB_CACHE": str(tmp_path)}

    # No file can grow past a megabyte, which stops the larger packages as a full disk does.
    full = subprocess.run(
        FETCH,
        env=environment,
        capture_output=True,
        text=True,
        preexec_fn=lambda: limit_files(1_000_000),
    )
    assert full.returncode == 1
    assert "DiskFull: The disk is too full" in full.stderr

    again = subprocess.run(FETCH, env=environment, capture_output=True, text=True)
    assert (again.stdout.strip(), again.returncode) == ("97", 0), again.stderr


@pytest.mark.slow
@pytest.mark.machine
def test_a_killed_call_does_no_harm_and_its_download_is_used(tmp_path):
    environment = os.environ | {"KAFKALAB_CACHE": str(tmp_path)}
    work = tmp_path / "jars" / ".fetch-kafka"
    with subprocess.Popen(FETCH, env=environment, stderr=subprocess.DEVNULL) as killed:
        wait_until(lambda: ivy.fetched(work) > 5e6, timeout=120, what="five megabytes to come")
        killed.send_signal(signal.SIGKILL)

    again = subprocess.run(FETCH, env=environment, capture_output=True, text=True)

    assert (again.stdout.strip(), again.returncode) == ("97", 0), again.stderr
    left = [path.name for path in (tmp_path / "jars").iterdir()]
    assert sorted(name.split("-")[0] for name in left) == ["kafka", "kafka.lock"]


@pytest.mark.parametrize(
    ("text", "file_name"),
    [
        ("a.b:c:1.0", "c-1.0.jar"),
        ("a.b:c:1.0:all", "c-1.0-all.jar"),
        ("a.b:c:1.0:all@tar.gz", "c-1.0-all.tar.gz"),
        ("a.b:c:1.0@tar.gz", "c-1.0.tar.gz"),
    ],
)
def test_a_coordinate_is_read_and_written(text, file_name):
    artifact = ivy.Artifact.parse(text)

    assert str(artifact) == text
    assert artifact.file_name == file_name


def test_a_file_of_ivys_cache_is_recognised(tmp_path):
    module = tmp_path / "a.b" / "c"
    module.mkdir(parents=True)
    (module / "ivy-1.0-rc1.xml").touch()

    assert str(ivy.cached(module / "jars" / "c-1.0-rc1.jar")) == "a.b:c:1.0-rc1"
    assert str(ivy.cached(module / "jars" / "c-1.0-rc1-all.jar")) == "a.b:c:1.0-rc1:all"
    assert str(ivy.cached(module / "x" / "c-1.0-rc1-all.tar.gz")) == "a.b:c:1.0-rc1:all@tar.gz"


def test_every_file_of_a_set_has_a_name_of_its_own():
    for name in jars.names():
        files = [jar.artifact.file_name for jar in jars.locked(name)]
        assert len(set(files)) == len(files)


def test_the_connector_is_the_one_for_the_installed_pyspark():
    import pyspark

    versions = {
        jar.artifact.version
        for jar in jars.locked("spark-kafka")
        if jar.artifact.group == "org.apache.spark"
    }
    scala = next((Path(pyspark.__file__).parent / "jars").glob("spark-core_*.jar")).name

    assert versions == {pyspark.__version__}
    assert "_2.13-" in scala


@pytest.mark.slow
def test_on_a_machine_without_network_the_network_is_named(tmp_path):
    command = [*without_network(), sys.executable, "-P", "-m", "commands.app", "setup"]
    environment = os.environ | {"KAFKALAB_CACHE": str(tmp_path)}

    said = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    assert said.returncode == 1
    what, why, mend = said.stderr.splitlines()[-3:]
    assert what == "No network: the registry of Java packages cannot be reached."
    assert f"{len(jars.locked('kafka'))} Java packages were to be fetched" in why
    assert "./course setup --bundle FILE" in mend
