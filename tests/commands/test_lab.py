"""`./course lab` opens JupyterLab on this machine only, with its token and this Python."""

import json
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import psutil
import pytest
from playwright.sync_api import sync_playwright

from commands import lab, unattended
from kafkalab import environment
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until
from tests.browser import CHROMIUM, QUIET


def test_the_first_lesson_opens_where_it_is_there(tmp_path):
    assert "--LabApp.default_url=/lab" in lab.options(tmp_path, None)

    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "00_start.ipynb").touch()

    assert "--LabApp.default_url=/lab/tree/notebooks/00_start.ipynb" in lab.options(tmp_path, None)


def test_a_chosen_port_that_is_taken_is_an_error(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        with pytest.raises(CourseError, match="is in use by another program"):
            lab.options(tmp_path, taken.getsockname()[1])


def test_a_kernel_of_another_python_is_an_error(tmp_path, monkeypatch):
    lab.check_kernel()

    folder = tmp_path / "kernels" / "python3"
    folder.mkdir(parents=True)
    spec = {"argv": ["/usr/bin/python3", "-m", "ipykernel_launcher"], "display_name": "Python 3"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))

    with pytest.raises(CourseError, match="would run in /usr/bin/python3"):
        lab.check_kernel()


@pytest.fixture
def server(tmp_path):
    """A running JupyterLab: its process, its address, its token."""
    command = [sys.executable, "-P", "-m", "jupyterlab", *lab.options(tmp_path, None)]
    own = {
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces"),
    }
    log = tmp_path / "log"
    address = re.compile(r"(http://127\.0\.0\.1:\d+/)\S*\?token=(\w+)")
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*command, "--no-browser"],
            stderr=output,
            cwd=tmp_path,
            env=environment.for_jupyterlab() | own,
        ) as process,
    ):
        try:
            found = wait_until(
                lambda: address.search(log.read_text("utf-8")),
                timeout=90,
                what="JupyterLab to print its address",
            )
            # It prints its address before it listens there.
            wait_until(
                lambda: unattended.answers(f"{found[1]}api"),
                timeout=90,
                what="JupyterLab to answer",
                not_yet=(OSError,),
            )
            yield process, *found.groups()
        finally:
            process.terminate()
    assert process.returncode == 0


@pytest.mark.slow
def test_jupyterlab_listens_here_only_and_wants_its_token(server):
    process, address, token = server

    listening = [
        connection.laddr.ip
        for connection in psutil.Process(process.pid).net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert set(listening) == {"127.0.0.1"}
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"{address}api/contents")
    with urllib.request.urlopen(f"{address}api/contents?token={token}") as answer:
        assert answer.status == 200


@pytest.mark.browser
def test_the_page_opens_without_a_question(server):
    _, address, token = server

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{address}lab?token={token}")
        page.wait_for_selector(".jp-Launcher")
        # JupyterLab asks once its settings are read, which also end the splash.
        page.wait_for_load_state("networkidle")

        assert page.locator(".jp-Dialog").count() == 0
        assert page.locator(".Toastify__toast").count() == 0
        browser.close()
