"""JupyterLab as `./course lab` shows it: what stands on the screen, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from commands import lab
from kafkalab.places import repository
from kafkalab.wait import wait_until

pytestmark = pytest.mark.slow

RUN = """
import json, sys
from pathlib import Path
from commands import jupyterlab_server
from kafkalab.errors import CourseError
jupyterlab_server.LOOK_EVERY = 0.5
try:
    jupyterlab_server.run(json.loads(sys.argv[1]), Path.cwd(), browser=True)
except CourseError as error:
    sys.exit(str(error))
"""
LINE = re.compile(r"JupyterLab is ready at (http://127\.0\.0\.1:\d+)(/lab\S*)\?token=(\w+)")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "notebooks").mkdir(parents=True)
    (folder / "notebooks" / "00_start.ipynb").write_text('{"cells": []}')
    return folder


class Screen:
    """A JupyterLab with a screen and a browser, which notes what it is to open."""

    def __init__(self, work: Path, *more: str) -> None:
        self.folder = work.parent
        browser = self.folder / "browser"
        browser.write_text(f'#!/bin/sh\necho "$1" > "{self.folder}/opened"\n')
        browser.chmod(0o755)
        own = {
            "KAFKALAB_STATE": str(self.folder / "state"),
            "BROWSER": str(browser),
            "PYTHONPATH": str(repository()),
            **{
                f"JUPYTER{name}_DIR": str(self.folder / name)
                for name in ("_RUNTIME", "_CONFIG", "LAB_SETTINGS", "LAB_WORKSPACES")
            },
        }
        self._screen = self.folder / "screen"
        with self._screen.open("wb") as screen:
            self.process = subprocess.Popen(
                [sys.executable, "-c", RUN, json.dumps([*lab.options(work, None), *more])],
                stdout=screen,
                stderr=screen,
                cwd=work,
                env=os.environ | own,
            )

    @property
    def text(self) -> str:
        return self._screen.read_text("utf-8")

    def wait_for(self, words: str) -> None:
        def shown() -> bool:
            assert self.process.poll() is None, self.text
            return words in self.text

        wait_until(shown, timeout=90, what=repr(words), seen=lambda: self.text)

    def log(self) -> str:
        (log,) = (self.folder / "state" / "jupyterlab").glob("*.log")
        return log.read_text("utf-8")


@pytest.fixture
def screen(work: Path) -> Iterator[Screen]:
    opened = Screen(work)
    try:
        opened.wait_for("press Ctrl+C here")
        yield opened
    finally:
        if opened.process.poll() is None:
            opened.process.terminate()
            opened.process.wait(60)


def ask(found: re.Match[str], path: str, body: dict | None = None) -> dict:
    request = urllib.request.Request(
        f"{found[1]}/api/{path}",
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": f"token {found[3]}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def test_from_ready_to_ctrl_c(screen: Screen) -> None:
    ready, *more = screen.text.splitlines()
    found = LINE.fullmatch(ready)
    assert found, ready
    assert found[2] == "/lab/tree/notebooks/00_start.ipynb"
    assert ask(found, "status")["kernels"] == 0
    assert [line[:2] for line in more] == ["  "] * 3
    assert "opens in your browser" in more[0]
    assert "Shut Down Notebook" in more[1]
    # The token is not in a command line, which all users of the machine can read.
    page = Path((screen.folder / "opened").read_text().strip().removeprefix("file://"))
    assert f"{found[2]}?token={found[3]}" in page.read_text("utf-8")

    # A page whose kernel runs, and that no tab shows.
    page_path = "notebooks/00_start.ipynb"
    kernel = {"name": "python3"}
    ask(found, "sessions", {"path": page_path, "type": "notebook", "kernel": kernel, "name": ""})
    screen.wait_for("Running Terminals and Kernels")
    assert "00_start.ipynb runs without an open tab (0." in screen.text
    children = psutil.Process(screen.process.pid).children(recursive=True)
    assert children

    screen.process.send_signal(signal.SIGINT)
    assert screen.process.wait(60) == 0
    assert screen.text.splitlines()[-2:] == [
        "Ending JupyterLab and what its pages have started.",
        "JupyterLab has ended, and all that its pages had started.",
    ]
    assert len(screen.text.splitlines()) == 9, screen.text
    assert not any(child.is_running() for child in children)
    assert "Kernel started" in screen.log()


def test_one_that_cannot_start_names_its_log(work: Path) -> None:
    screen = Screen(work, "--ServerApp.root_dir=/nowhere")

    assert screen.process.wait(60) == 1
    what, why, mend = screen.text.splitlines()
    assert what == "JupyterLab did not start."
    assert "/nowhere" in why
    assert str(screen.folder / "state" / "jupyterlab") in mend
    assert "/nowhere" in screen.log()
