"""The script `course`: finds Python, makes the environment once, hands over.

Most tests put a stand-in for Python into .venv that tells how it was called. Those of the machine
install a small project for real, with the same script and the same installer.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from commands.verbs import VERBS
from kafkalab.places import repository
from kafkalab.wait import wait_until
from tests.isolation import tiny, without_network

# What stands in front of everything, and is touched once in a while: a process for each test.
pytestmark = pytest.mark.slow

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
    for package in ("commands", "kafkalab"):
        shutil.copytree(
            repository() / package, folder / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(repository() / "course", folder)
    (folder / "commands" / "app.py").write_text("print('the course speaks', __file__)\n")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    return folder


def run(script: Path, *arguments: str, **settings) -> subprocess.CompletedProcess[str]:
    return subprocess.run([script, *arguments], capture_output=True, text=True, **settings)


def without_house(environment: Mapping[str, str]) -> dict[str, str]:
    """Without packages that lie on this machine, and with a cache of no use."""
    names = ("PIP_FIND_LINKS", "PIP_NO_INDEX")
    return {n: v for n, v in environment.items() if n not in names} | {"PIP_NO_CACHE_DIR": "1"}


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
        ["bash", clone / "course", "lab"],
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
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
        ["bash", clone / "course", "lab"],
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
    )

    assert "Found: no Python at all." in said.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_needs_no_installation(clone, arguments):
    said = run(clone / "course", *arguments)

    for verb in VERBS.values():
        assert verb.help in said.stdout
    assert "Not set up yet" in said.stdout
    assert said.stderr == ""
    # As typer has it: without a word it was wrong usage.
    assert said.returncode == (0 if arguments else 2)
    assert not (clone / ".venv").exists()


def test_help_of_a_verb_needs_no_installation(clone):
    said = run(clone / "course", "check", "--help")

    assert VERBS["check"].help in said.stdout
    assert "./course setup" in said.stdout
    assert not (clone / ".venv").exists()


def test_a_verb_that_is_none_is_told_without_an_installation(clone):
    said = run(clone / "course", "nonsense", "--help")

    assert said.returncode == 2
    assert "nonsense" in said.stderr


def test_help_after_two_dashes_is_for_another_program(clone):
    stand_in(clone)
    (clone / "pyproject.toml").write_text(PYPROJECT + "# another list\n")
    (clone / "commands" / "install.py").write_text("import sys; sys.exit('it installs')\n")

    said = run(clone / "course", "test", "--", "--help")

    assert said.stderr == "it installs\n"


@pytest.mark.machine
def test_the_doctor_looks_before_anything_is_installed(clone):
    said = run(clone / "course", "doctor", "--json")

    found = {finding["subject"]: finding for finding in json.loads(said.stdout)}
    assert found["python packages"]["level"] == "good", found["python packages"]
    assert found["set-up"]["seen"] == "not set up: ./course setup"
    assert {"python", "disk", "home", "temporary files", "folder of the course"} <= set(found)
    assert said.returncode == 0
    assert not (clone / ".venv").exists()


@pytest.mark.machine
def test_the_doctor_names_a_network_that_is_not_there(clone):
    said = run(*without_network(), clone / "course", "doctor", "--json")

    found = {finding["subject"]: finding for finding in json.loads(said.stdout)}
    assert said.returncode == 1
    assert "registry of Python packages cannot be reached" in found["python packages"]["seen"]
    assert "127.0.0.1" in found["loopback"]["seen"]


@pytest.mark.machine
def test_an_installation_without_network_says_so(clone):
    text = PYPROJECT.replace("dev = []", 'dev = ["crc32c==2.9.post0"]')
    (clone / "pyproject.toml").write_text(text)

    said = run(*without_network(), clone / "course", "setup", env=without_house(os.environ))

    assert said.returncode == 1
    what, why, mend = said.stderr.splitlines()[-3:]
    assert what == "No network: the registry of Python packages cannot be reached."
    assert str(clone / ".venv.log") in why
    assert mend.startswith("Connect to the internet")


@pytest.mark.machine
def test_an_installation_on_a_full_disk_says_so(clone, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    copied = f'cp -r "$0" "{disk}/course" && cd "{disk}/course" && exec ./course "$@"'

    said = run(*tiny(disk, "8m"), "sh", "-c", copied, clone, "setup")

    assert said.returncode == 1
    assert said.stderr.splitlines()[-3] == "The disk is full."


@pytest.mark.machine
def test_an_installation_off_a_terminal_says_how_far_it_is(clone):
    """A registry that accepts and never answers: pip waits for it longer than ten seconds."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        environment = {**without_house(os.environ), "PIP_INDEX_URL": address}
        environment |= {"PIP_DEFAULT_TIMEOUT": "8", "PIP_RETRIES": "1"}

        said = run(clone / "course", "setup", env=environment)

    assert re.search(r"^ 10 s: .+; 0 packages, 0 MB so far$", said.stderr, re.MULTILINE)
    assert "did not answer in time" in said.stderr


@pytest.mark.machine
def test_it_installs_once_and_again_when_the_list_changes(clone, tmp_path):
    first = run(clone / "course", "lab", umask=0o077, env={**os.environ, "LC_ALL": "C"})
    assert first.stdout == f"the course speaks {clone}/commands/app.py\n", first.stderr
    assert "Making the Python environment" in first.stderr

    assert run(clone / "course", "lab").stderr == ""

    with (clone / "pyproject.toml").open("a") as listed:
        listed.write("# another version\n")
    changed = run(clone / "course", "lab")
    assert "The list of packages changed" in changed.stderr
    assert "Making" not in changed.stderr

    moved = clone.rename(tmp_path / "moved")
    # The programs of an environment name their folder, so it is made anew.
    assert "Making the Python environment" in run(moved / "course", "lab").stderr
    assert not (moved / ".venv.log").exists()


@pytest.mark.machine
def test_an_interrupted_installation_is_repaired(clone):
    with subprocess.Popen(
        [clone / "course", "lab"], stderr=subprocess.DEVNULL, start_new_session=True
    ) as killed:
        wait_until((clone / ".venv.log").exists, timeout=60, what="pip to begin")
        os.killpg(killed.pid, signal.SIGKILL)

    again = run(clone / "course", "lab")

    assert again.returncode == 0, again.stderr
    assert "the course speaks" in again.stdout


@pytest.mark.machine
def test_a_failed_installation_is_told_in_three_lines(clone):
    text = PYPROJECT.replace("dev = []", 'dev = ["kafka-python==0.0.0"]')
    (clone / "pyproject.toml").write_text(text)

    said = run(clone / "course", "lab")

    assert said.returncode == 1
    lines = said.stderr.splitlines()
    assert lines[-3] == "A package has no version for this Python or this machine."
    assert str(clone / ".venv.log") in lines[-2]
