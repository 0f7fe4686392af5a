"""What lessons and labs are run with, a JupyterLab and a browser to look at them as a learner."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect, sync_playwright

from commands.lab import options
from kafkalab import environment, places
from kafkalab.setup import contents, copies
from kafkalab.spark.pool import warm_spark
from kafkalab.wait import wait_until
from tests.browser import CHROMIUM, QUIET


@pytest.fixture(scope="session")
def warm() -> Iterator[None]:
    """Spark's Java process is handed from notebook to notebook. Starting it is tested elsewhere."""
    with warm_spark():
        yield


@pytest.fixture
def work(tmp_path) -> Path:
    folder = tmp_path / "my work"
    copies.refresh(places.repository(), folder)
    return folder


@pytest.fixture
def jupyterlab(work: Path, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """A JupyterLab as `./course lab` starts it, on copies of this test's own.

    Gives the address at which it opens one of the notebooks.
    """
    runtime = tmp_path / "runtime"
    surroundings = {
        **environment.for_jupyterlab(),
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces"),
    }
    command = [sys.executable, "-P", "-m", "jupyterlab", *options(work, None), "--no-browser"]
    if os.getuid() == 0:
        command.append("--allow-root")
    with (tmp_path / "jupyterlab.log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=work, env=surroundings, stdout=log, stderr=log, start_new_session=True
        )
    try:

        def running() -> tuple[str, str] | None:
            for file in runtime.glob("jpserver-*.json"):
                found = json.loads(file.read_text())
                url = f"{found['url']}api/status?token={found['token']}"
                with urllib.request.urlopen(url, timeout=5):
                    assert found["url"].startswith("http://127.0.0.1:")
                    assert found["token"]
                    return found["url"], found["token"]
            return None

        url, token = wait_until(
            running,
            timeout=60,
            what="JupyterLab",
            seen=lambda: (tmp_path / "jupyterlab.log").read_text()[-500:],
            not_yet=(OSError, ValueError),
        )
        yield lambda notebook: f"{url}lab/tree/notebooks/{notebook}?token={token}"
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()


@pytest.fixture
def reader(work: Path, jupyterlab: Callable[[str], str]) -> Iterator[Reader]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        yield Reader(page, work, jupyterlab)
        browser.close()


class Reader:
    """Somebody who has JupyterLab before them. `complaints` are what the browser's console says."""

    def __init__(self, page: Page, work: Path, address: Callable[[str], str]) -> None:
        self.page = page
        self.complaints: list[str] = []
        self._work = work
        self._address = address
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def run_all(self, notebook: str, title: str) -> None:
        """Open a notebook of the folder `notebooks` and run it; does not wait for its end."""
        self._notebook = self._work / "notebooks" / notebook
        self.page.goto(self._address(notebook))
        expect(self.page.locator(".jp-Notebook")).to_contain_text(title, timeout=60_000)
        expect(self.page.locator(".jp-Toolbar-kernelName")).to_contain_text(
            "Python 3", timeout=30_000
        )
        expect(self.page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute(
            "data-status", "idle", timeout=60_000
        )
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    def open_contents(self) -> None:
        """Open the page of contents in the place of the present one."""
        start = self._address("00_start.ipynb")
        self.page.goto(start.replace("notebooks/00_start.ipynb", contents.FILE))
        expect(self.page.locator(".jp-Notebook:visible")).to_contain_text(
            "Contents", timeout=60_000
        )

    def finished(self) -> dict[str, Any]:
        """The notebook when all its cells have run, none with an error.

        JupyterLab draws only what is near the window, so the saved file tells how far the run is.
        """

        def saved() -> dict[str, Any] | None:
            self.page.keyboard.press("Control+s")
            content = json.loads(self._notebook.read_text())
            code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
            stopped = [o for cell in code for o in cell["outputs"] if o["output_type"] == "error"]
            assert not stopped, stopped
            return content if all(cell["execution_count"] for cell in code) else None

        return wait_until(
            saved, timeout=180, what="the last cell", not_yet=(ValueError,), every=0.5
        )

    def _listen(self, line: ConsoleMessage) -> None:
        if line.type == "error":
            self.complaints.append(f"{line.text} ({line.location.get('url', '')})")
