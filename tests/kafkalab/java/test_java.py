"""The Java runtime is found, and one that does not serve is named."""

import subprocess
from pathlib import Path

import pytest

from kafkalab.errors import CourseError
from kafkalab.java.runtime import java


def fake(home: Path, release: str = "", says: str = "") -> Path:
    """A folder that looks like a Java; it stands in for versions that are not installed here."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    (home / "bin" / "java").chmod(0o755)
    if release:
        (home / "release").write_text(f'JAVA_VERSION="{release}"\n')
    return home


def test_it_is_the_one_that_pip_installed(monkeypatch):
    monkeypatch.delenv("KAFKALAB_JAVA_HOME", raising=False)
    found = java()

    said = subprocess.run([found.executable, "-version"], capture_output=True, text=True).stderr

    assert f'"{found.version}"' in said
    assert found.major >= 25


@pytest.mark.parametrize(
    ("release", "says", "version"),
    [
        ("21.0.4", "", "21.0.4"),
        ("", 'openjdk version "17.0.9" 2023-10-17', "17.0.9"),
        ("", 'openjdk version "26-ea" 2026-03-17', "26-ea"),
    ],
)
def test_another_can_be_chosen(monkeypatch, tmp_path, release, says, version):
    monkeypatch.setenv("KAFKALAB_JAVA_HOME", str(fake(tmp_path / "my java", release, says)))

    assert java().version == version
    assert java().major == int(version[:2])


def test_one_that_is_not_there_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKALAB_JAVA_HOME", str(tmp_path))

    with pytest.raises(CourseError, match="There is no Java") as caught:
        java()

    assert "KAFKALAB_JAVA_HOME" in caught.value.mend


@pytest.mark.parametrize(
    ("release", "says"), [("11.0.2", ""), ("", 'java version "1.8.0_392"')], ids=["11", "8"]
)
def test_an_old_one_is_an_error(monkeypatch, tmp_path, release, says):
    monkeypatch.setenv("KAFKALAB_JAVA_HOME", str(fake(tmp_path / "old", release, says)))

    with pytest.raises(CourseError, match="too old"):
        java()


def test_one_that_says_nothing_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKALAB_JAVA_HOME", str(fake(tmp_path / "mute")))

    with pytest.raises(CourseError, match="does not tell its version"):
        java()
