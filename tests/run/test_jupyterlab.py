"""Lesson 00 as a learner takes it: in JupyterLab, in a real browser."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect, sync_playwright

from commands.lab import options
from kafkalab import copies, places
from kafkalab.wait import wait_until

CHROMIUM = os.environ.get("KAFKALAB_CHROMIUM", "/usr/bin/chromium")
# What a browser does on its own account, which would leave this machine.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytestmark = [pytest.mark.browser, pytest.mark.cluster, pytest.mark.spark, pytest.mark.timeout(360)]


@pytest.fixture
def work(tmp_path) -> Path:
    folder = tmp_path / "my work"
    copies.refresh(places.repository(), folder)
    return folder


@pytest.fixture
def address(work, tmp_path):
    """A JupyterLab as `./course lab` starts it, on copies of this test's own."""
    runtime = tmp_path / "runtime"
    environment = {
        **os.environ,
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
            command, cwd=work, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:

        def running() -> str:
            for file in runtime.glob("jpserver-*.json"):
                found = json.loads(file.read_text())
                url = f"{found['url']}api/status?token={found['token']}"
                with urllib.request.urlopen(url, timeout=5):
                    assert found["url"].startswith("http://127.0.0.1:")
                    assert found["token"]
                    return f"{found['url']}lab/tree/notebooks/00_start.ipynb?token={found['token']}"
            return ""

        yield wait_until(
            running,
            timeout=60,
            what="JupyterLab",
            seen=lambda: (tmp_path / "jupyterlab.log").read_text()[-500:],
            not_yet=(OSError, ValueError),
        )
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()


@pytest.fixture
def page(tmp_path):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        yield page
        browser.close()


def test_lesson_00_runs_in_the_browser_and_shows_its_chart(address: str, page: Page, work: Path):
    complaints: list[str] = []

    def listen(line: ConsoleMessage) -> None:
        if line.type == "error":
            complaints.append(f"{line.text} ({line.location.get('url', '')})")

    page.on("console", listen)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    notebook = page.locator(".jp-Notebook")
    expect(notebook).to_contain_text("00 Start", timeout=60_000)
    expect(page.locator(".jp-Toolbar-kernelName")).to_contain_text("Python 3", timeout=30_000)
    expect(page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute(
        "data-status", "idle", timeout=60_000
    )
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    # JupyterLab draws only what is near the window, so the saved file tells how far the run is.
    saved = work / "notebooks" / "00_start.ipynb"

    def finished() -> dict:
        page.keyboard.press("Control+s")
        content = json.loads(saved.read_text())
        code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
        stopped = [o for cell in code for o in cell["outputs"] if o["output_type"] == "error"]
        assert not stopped, stopped
        return content if all(cell["execution_count"] for cell in code) else {}

    content = wait_until(
        finished, timeout=180, what="the last cell", not_yet=(ValueError,), every=0.5
    )
    pictures = [
        data["text/html"]
        for cell in content["cells"]
        for output in cell.get("outputs", [])
        if "alt=" in "".join((data := output.get("data", {})).get("text/html", ""))
    ]
    assert pictures, "no chart with a text alternative was saved"
    chart = page.locator(".jp-OutputArea-output img[alt*='Records per second']")
    # Scroll through the notebook as a reader does until the chart comes into view.
    notebook_panel = page.locator(".jp-WindowedPanel-outer")
    for _ in range(60):
        if chart.count() and chart.first.is_visible():
            break
        notebook_panel.hover()
        page.mouse.wheel(0, -600 if _ < 1 else 400)
        page.wait_for_timeout(50)
    expect(chart.first).to_be_visible()
    assert chart.first.evaluate("picture => picture.naturalWidth") > 300
    assert not complaints, complaints
