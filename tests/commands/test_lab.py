"""`./course lab` opens JupyterLab on this machine only, with its token and this Python."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import psutil
import pytest

from commands import lab
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until


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


@pytest.mark.slow
def test_jupyterlab_listens_here_only_and_wants_its_token(tmp_path):
    command = [sys.executable, "-P", "-m", "jupyterlab", *lab.options(tmp_path, None)]
    log = tmp_path / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*command, "--no-browser"],
            stderr=output,
            cwd=tmp_path,
            env={**os.environ, "JUPYTER_CONFIG_DIR": str(tmp_path / "config")},
        ) as server,
    ):
        try:
            address, token = wait_until(
                lambda: (
                    (
                        found := re.search(
                            r"(http://127\.0\.0\.1:\d+/)\S*\?token=(\w+)", log.read_text()
                        )
                    )
                    and found.groups()
                ),
                timeout=60,
                what="JupyterLab to print its address",
            )
            listening = [
                connection.laddr.ip
                for connection in psutil.Process(server.pid).net_connections("tcp")
                if connection.status == psutil.CONN_LISTEN
            ]
            assert set(listening) == {"127.0.0.1"}
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(f"{address}api/contents")
            with urllib.request.urlopen(f"{address}api/contents?token={token}") as answer:
                assert answer.status == 200
        finally:
            server.send_signal(signal.SIGTERM)
    assert server.returncode == 0
