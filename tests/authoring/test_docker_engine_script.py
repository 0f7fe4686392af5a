"""The script that prepares an engine for CI, as far as it goes without starting one."""

import os
import subprocess
from pathlib import Path

from kafkalab import places

SCRIPT = places.repository() / "authoring" / "docker_engine.sh"


def run(tmp_path: Path, *arguments: str, **programs: str) -> subprocess.CompletedProcess[str]:
    """Run the script with some programs of the machine replaced by shell commands."""
    for name, command in programs.items():
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{command}\n")
        path.chmod(0o755)
    return subprocess.run(
        [SCRIPT, *arguments],
        env=os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_wrong_usage_shows_the_right_one(tmp_path: Path) -> None:
    done = run(tmp_path, "begin")
    assert done.returncode == 2
    assert "docker_engine.sh start FOLDER" in done.stderr


def test_an_engine_that_does_not_start_is_named(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "start",
        str(tmp_path / "engine"),
        id="echo 0",
        docker="exit 1",
        debootstrap="exit 1",
        dockerd="echo 'cgroups: not mounted' >&2; exit 1",
    )
    assert done.returncode == 1
    assert "could not be prepared: dockerd does not answer" in done.stderr
    assert done.stderr.endswith("cgroups: not mounted\n")


def test_a_container_gets_as_much_of_the_processor_as_a_process(tmp_path: Path) -> None:
    programs = {"id": "echo 0", "docker": "exit 1", "debootstrap": "exit 1"}
    done = run(
        tmp_path, "start", str(tmp_path / "e"), dockerd='echo "$@" | tail -c 40; exit 1', **programs
    )
    without_systemd = Path("/sys/fs/cgroup/cpu/cpu.shares").exists()
    assert ("--cgroup-parent /" in done.stderr) == without_systemd, done.stderr


def test_only_root_can_start_one(tmp_path: Path) -> None:
    done = run(tmp_path, "start", str(tmp_path / "engine"), id="echo 1000")
    assert done.returncode == 1
    assert "only root can start one" in done.stderr


def test_stopping_what_does_not_run_is_no_failure(tmp_path: Path) -> None:
    assert run(tmp_path, "stop", str(tmp_path / "engine")).returncode == 0
