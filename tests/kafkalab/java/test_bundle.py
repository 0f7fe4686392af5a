"""A bundle carries the Java packages to a room without a network, whole or not at all."""

import hashlib
import json
import shutil
import zipfile

import pytest

from kafkalab.errors import CourseError
from kafkalab.java import bundle, jars


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A lock file of two sets, their files, and a bundle made of them."""
    monkeypatch.setattr(jars, "LOCK_FILE", tmp_path / "jars.json")
    jars.locked.cache_clear()
    sets = {}
    for name in ("first", "second"):
        file = tmp_path / f"{name}-1.0.jar"
        file.write_text(f"content of {name}\n" * 100)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        entry = {"coordinate": f"a:{name}:1.0", "sha256": digest, "size": file.stat().st_size}
        sets[name] = {"roots": [], "files": [entry]}
    jars.LOCK_FILE.write_text(json.dumps(sets))
    monkeypatch.setenv("KAFKALAB_CACHE", str(tmp_path / "full"))
    for name in sets:
        copy = tmp_path / "copy"
        shutil.copy(tmp_path / f"{name}-1.0.jar", copy)
        jars.adopt(name, {jars.locked(name)[0]: copy})
    path = tmp_path / "room 5.zip"
    assert bundle.write(path) == 2
    monkeypatch.setenv("KAFKALAB_CACHE", str(tmp_path / "empty"))
    yield path
    jars.locked.cache_clear()


def test_a_bundle_fills_an_empty_cache_without_a_network(small, monkeypatch):
    # Ivy would fail: there is no such settings file.
    monkeypatch.setenv("KAFKALAB_IVY_SETTINGS", "/nonexistent")

    assert bundle.read(small) == 2
    assert [jars.jars(name)[0].name for name in jars.names()] == ["first-1.0.jar", "second-1.0.jar"]


def test_a_bundle_repairs_a_damaged_cache(small):
    bundle.read(small)
    jars.folder_of("first").joinpath("first-1.0.jar").write_text("damaged")

    bundle.read(small)

    assert jars.jars("first")[0].read_text().startswith("content of first")


def test_a_cut_bundle_is_refused(small):
    small.write_bytes(small.read_bytes()[:-30])

    with pytest.raises(CourseError, match="damaged or is no bundle"):
        bundle.read(small)


@pytest.mark.parametrize("place", [b"content of second", b"second-1.0.jar"], ids=["data", "name"])
def test_a_changed_bundle_is_refused_whole(small, place):
    content = bytearray(small.read_bytes())
    content[content.index(place)] ^= 1
    small.write_bytes(content)

    with pytest.raises(CourseError):
        bundle.read(small)
    assert not jars.folder_of("first").exists()


def test_a_file_with_another_sum_is_refused_whole(small, tmp_path):
    forged = tmp_path / "forged.zip"
    with zipfile.ZipFile(small) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.swapcase() if name.startswith("second/") else content)

    with pytest.raises(jars.DamagedJar, match="Nothing was taken over"):
        bundle.read(forged)
    assert not jars.folder_of("first").exists()


def test_the_bundle_of_another_version_is_named(small, tmp_path):
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("jars.json", "{}")

    with pytest.raises(CourseError, match="not a bundle of this version"):
        bundle.read(other)


def test_a_missing_bundle_is_named(tmp_path):
    with pytest.raises(CourseError, match="There is no file"):
        bundle.read(tmp_path / "nothing.zip")


def test_a_bundle_that_cannot_be_written_is_named(small, tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKALAB_CACHE", str(tmp_path / "full"))

    with pytest.raises(CourseError, match="cannot be written"):
        bundle.write(tmp_path / "no folder" / "bundle.zip")
