"""What cannot be written is named, with what to do about it."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands import refusals
from kafkalab.places import repository
from tests.isolation import read_only, tiny


@pytest.mark.slow
def test_a_course_in_a_read_only_folder_says_where_it_can_be_used(tmp_path):
    command = [*read_only(repository()), sys.executable, "-P", "-m", "commands.app"]

    said = subprocess.run(
        [*command, "new", "lab", "99_nothing"], capture_output=True, text=True, timeout=60
    )

    assert said.returncode == 1
    what, why, mend = said.stderr.splitlines()
    assert what == f"{repository() / 'labs' / '99_nothing'}: Read-only file system."
    assert f"The folder of the course, {repository()}, cannot be written" in why
    assert f"cp -r {repository()} ~/kafka-course" in mend


@pytest.mark.slow
def test_a_full_disk_is_named(tmp_path):
    """A cache on a disk that has room for the first small files and not for the packages."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [*tiny(disk, "300k"), sys.executable, "-P", "-m", "commands.app", "setup"]
    environment = os.environ | {"KAFKALAB_CACHE": str(disk)}

    said = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    assert said.returncode == 1
    assert str(disk) in said.stderr
    assert "The disk is too full" in said.stderr
    assert "KAFKALAB_CACHE" in said.stderr.splitlines()[-1]


@pytest.mark.cluster
def test_a_cluster_on_a_full_disk_says_so(tmp_path):
    command = [*tiny(tmp_path, "60k"), sys.executable, "-P", "-m", "commands.app", "up", "single"]
    environment = os.environ | {"KAFKALAB_STATE": str(tmp_path)}

    said = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    assert said.returncode == 1
    assert "broker ended while it started: the disk is full." in said.stderr
    assert str(tmp_path) in said.stderr
    assert "KAFKALAB_STATE" in said.stderr


def test_a_full_disk_without_a_name_is_looked_for(monkeypatch, tmp_path):
    free = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: free)

    found = refusals.explain(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    assert found is not None
    assert found.what.endswith("No space left on device.")
    assert Path(found.what.partition(":")[0]).is_dir()


def test_what_is_no_refusal_is_not_explained():
    assert refusals.explain(OSError(errno.EIO, "Input/output error")) is None
