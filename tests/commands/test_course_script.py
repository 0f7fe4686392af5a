"""The script `course`: finds Python, makes the environment once, hands over.

The quick tests put a stand-in for Python into .venv that tells how it was called. The slow ones
install a small project for real, with the same script and the same installer.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from kafkalab.places import repository
from kafkalab.wait import wait_until

ECHO = """#!/bin/sh
echo "arguments: $*"
echo "UTF-8: $PYTHONUTF8 path: ${PYTHONPATH-unset} folder: $PWD"
"""
PYPROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "small-course"
version = "0.1"
[project.optional-dependencies]
dev = []
[tool.setuptools]
packages = ["commands"]
"""


@pytest.fixture
def clone(tmp_path):
    """A folder with a space in its name that holds the script and what it needs."""
    folder = tmp_path / "my course ü"
    (folder / "commands").mkdir(parents=True)
    shutil.copy(repository() / "course", folder)
    shutil.copy(repository() / "commands" / "install.py", folder / "commands")
    (folder / "commands" / "app.py").write_text("print('the course speaks', __file__)\n")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    return folder


def run(script: Path, *arguments: str, **settings) -> subprocess.CompletedProcess[str]:
    return subprocess.run([script, *arguments], capture_output=True, text=True, **settings)


def stand_in(clone: Path) -> None:
    """An environment that counts as installed."""
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(ECHO)
    python.chmod(0o755)
    with (clone / "pyproject.toml").open() as listed:
        total = subprocess.run("cksum", stdin=listed, capture_output=True, text=True).stdout
    (clone / ".venv" / "installed").write_text(f"{total.strip()} {clone}")


def test_it_hands_over_from_any_folder_through_a_link(clone, tmp_path):
    stand_in(clone)
    links = tmp_path / "links"
    links.mkdir()
    (links / "one").symlink_to(os.path.relpath(clone / "course", links))
    (links / "two").symlink_to("one")

    said = run(
        links / "two",
        "check",
        "my lab.ipynb",
        cwd=links,
        env={**os.environ, "PYTHONPATH": "/foreign", "LC_ALL": "C"},
    )

    assert said.stdout == (
        f"arguments: -P -m commands.app check my lab.ipynb\nUTF-8: 1 path: unset folder: {links}\n"
    )
    assert (said.returncode, said.stderr) == (0, "")


def test_a_conda_environment_with_the_course_is_used(clone, tmp_path):
    stand_in(clone)
    conda = tmp_path / "conda"
    (conda / "bin").mkdir(parents=True)
    (conda / "bin" / "python").write_text(ECHO.replace("arguments", "conda"))
    (conda / "bin" / "python").chmod(0o755)

    said = run(clone / "course", "lab", env={**os.environ, "CONDA_PREFIX": str(conda)})

    assert said.stdout.splitlines()[-2] == "conda: -P -m commands.app lab"


def test_a_conda_environment_without_the_course_is_left_alone(clone, tmp_path):
    stand_in(clone)
    conda = tmp_path / "conda"
    (conda / "bin").mkdir(parents=True)
    (conda / "bin" / "python").write_text("#!/bin/sh\nexit 1\n")
    (conda / "bin" / "python").chmod(0o755)

    said = run(clone / "course", "lab", env={**os.environ, "CONDA_PREFIX": str(conda)})

    assert said.stdout.startswith("arguments: -P -m commands.app lab")


def test_without_a_new_enough_python_it_says_what_it_found(clone, tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "cat", "cksum", "dirname", "readlink"):
        (programs / name).symlink_to(shutil.which(name))
    (programs / "python3").write_text("#!/bin/sh\necho 3.9.18\n")
    # A name that a version manager keeps for a version that is not installed.
    (programs / "python3.13").write_text("#!/bin/sh\necho not installed >&2\nexit 127\n")
    for name in ("python3", "python3.13"):
        (programs / name).chmod(0o755)

    said = subprocess.run(
        ["bash", clone / "course"], env={"PATH": str(programs)}, capture_output=True, text=True
    )

    assert said.returncode == 1
    assert "needs Python 3.11 or newer" in said.stderr
    assert f"Found: {programs}/python3 (3.9.18)." in said.stderr


def test_no_python_at_all_is_said(clone, tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "cat", "cksum", "dirname", "readlink"):
        (programs / name).symlink_to(shutil.which(name))

    said = subprocess.run(
        ["bash", clone / "course"], env={"PATH": str(programs)}, capture_output=True, text=True
    )

    assert "Found: no Python at all." in said.stderr


@pytest.mark.slow
@pytest.mark.machine
def test_it_installs_once_and_again_when_the_list_changes(clone, tmp_path):
    first = run(clone / "course", umask=0o077, env={**os.environ, "LC_ALL": "C"})
    assert first.stdout == f"the course speaks {clone}/commands/app.py\n", first.stderr
    assert "Making the Python environment" in first.stderr

    assert run(clone / "course").stderr == ""

    with (clone / "pyproject.toml").open("a") as listed:
        listed.write("# another version\n")
    changed = run(clone / "course")
    assert "The list of packages changed" in changed.stderr
    assert "Making" not in changed.stderr

    moved = clone.rename(tmp_path / "moved")
    # The programs of an environment name their folder, so it is made anew.
    assert "Making the Python environment" in run(moved / "course").stderr
    assert not (moved / ".venv.log").exists()


@pytest.mark.slow
@pytest.mark.machine
def test_an_interrupted_installation_is_repaired(clone):
    with subprocess.Popen(
        [clone / "course"], stderr=subprocess.DEVNULL, start_new_session=True
    ) as killed:
        wait_until((clone / ".venv.log").exists, timeout=60, what="pip to begin")
        os.killpg(killed.pid, signal.SIGKILL)

    again = run(clone / "course")

    assert again.returncode == 0, again.stderr
    assert "the course speaks" in again.stdout


@pytest.mark.slow
@pytest.mark.machine
def test_a_failed_installation_is_told_in_three_lines(clone):
    text = PYPROJECT.replace("dev = []", 'dev = ["kafka-python==0.0.0"]')
    (clone / "pyproject.toml").write_text(text)

    said = run(clone / "course")

    assert said.returncode == 1
    lines = said.stderr.splitlines()
    assert lines[-3] == "A package has no version for this Python or this machine."
    assert str(clone / ".venv.log") in lines[-2]
