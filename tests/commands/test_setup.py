"""`./course setup` and `./course test` do their job and say so by their exit code."""

import os
import subprocess
import sys

import pytest

from commands import app
from kafkalab.java import aot, jars


def course(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "commands.app", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


def test_a_bundle_that_is_not_there_ends_setup(capsys, tmp_path):
    assert app.main(["setup", "--bundle", str(tmp_path / "nothing.zip")]) == 1

    assert "There is no file" in capsys.readouterr().err


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.machine
@pytest.mark.timeout(600)
def test_setup_prepares_a_machine_from_a_bundle_alone(tmp_path):
    bundle = tmp_path / "course.zip"
    for name in jars.names():
        jars.jars(name)
    assert course("setup", "--export", str(bundle)).returncode == 0

    room = course(
        "setup",
        "--bundle",
        str(bundle),
        KAFKALAB_CACHE=str(tmp_path / "cache of the room"),
        # No way out: only the bundle can have brought the packages.
        HTTPS_PROXY="http://127.0.0.1:9",
        https_proxy="http://127.0.0.1:9",
    )

    assert room.returncode == 0, room.stderr
    archives = (tmp_path / "cache of the room" / "aot").glob("*.jsa")
    assert {path.name.partition("-")[0] for path in archives} == set(aot.ARCHIVES)


@pytest.mark.process
def test_pytest_has_the_last_word():
    said = course("test", "--quick", "-q", "tests/nothing_of_this_name.py")

    assert said.returncode == 4
    assert "no tests ran" in said.stdout
