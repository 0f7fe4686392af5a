"""A machine in a browser: what .devcontainer/ and binder/ say fits what is in the repository."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from commands import lab
from kafkalab.places import repository

ROOT = repository()


def test_a_dev_container_sets_up_and_opens_the_course():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    assert container["updateContentCommand"] == "./course setup"
    assert container["postAttachCommand"] == f"./course lab --no-browser --port {lab.PORT}"
    assert container["forwardPorts"] == [lab.PORT]
    assert list(container["portsAttributes"]) == [str(lab.PORT)]


def test_both_have_a_python_that_the_course_accepts():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    least = project["requires-python"].removeprefix(">=")
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    assert container["image"].startswith(f"python:{least}-")
    assert (ROOT / "binder" / "runtime.txt").read_text().strip() == f"python-{least}"


def test_binder_gives_each_reader_copies_and_hands_over(tmp_path: Path):
    """`start` as Binder calls it: in the repository, with the command of its own JupyterLab."""
    clone = tmp_path / "course"
    shutil.copytree(
        ROOT, clone, ignore=shutil.ignore_patterns(".*", "build", "work", "__pycache__", "*.jsa")
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["binder/start", "echo", "handed over"],
        cwd=clone,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "handed over\n"
    assert (clone / "work" / "notebooks" / "00_start.ipynb").is_file()
    assert os.access(clone / "binder" / "postBuild", os.X_OK)
