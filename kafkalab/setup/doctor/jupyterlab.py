"""Start a JupyterLab of its own on 127.0.0.1, open its page, end it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from kafkalab import environment
from kafkalab.errors import CourseError
from kafkalab.machine import loopback
from kafkalab.wait import wait_until

TIMEOUT = 60  # seconds, of those that the whole attempt has
PAGE = 1_000_000  # bytes read of it at most
SIGN = b"jupyter-config-data"  # stands in each page of JupyterLab


def open_a_page() -> str:
    """What was seen; a CourseError where no page comes."""
    loopback.require()
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="kafkalab-doctor-") as folder,
        _server(Path(folder)) as address,
    ):
        # Its note on itself is there a moment before it listens.
        text = wait_until(
            lambda: _page(address),
            timeout=TIMEOUT,
            what="the page of JupyterLab",
            not_yet=(urllib.error.URLError,),
            mend="A firewall or another program may stand between. Look again: ./course doctor",
        )
        if SIGN not in text:
            raise CourseError(
                "JupyterLab runs, but what it shows is not its page.",
                f"It begins with: {text[:80].decode(errors='replace')}",
                "Install the course's packages again: ./course setup",
            )
    return f"a page was opened after {time.monotonic() - began:.0f} s"


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[str]:
    """The address of a page, with its token, as long as this lasts."""
    runtime, log = folder / "runtime", folder / "log"
    runtime.mkdir()
    command = [sys.executable, "-P", "-m", "kafkalab.machine.lifeline", "jupyterlab"]
    options = [
        "--no-browser",
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.ip={loopback.HERE}",
        "--ServerApp.port=8888",
        "--ServerApp.port_retries=1000",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        f"--ServerApp.allow_root={os.geteuid() == 0}",
    ]
    # Its notes on itself lie apart: other servers of this user are listed with theirs.
    apart = {"JUPYTER_RUNTIME_DIR": str(runtime), "JUPYTER_PREFER_ENV_PATH": "1"}
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*command, *options],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=folder,
            env=environment.for_jupyterlab() | apart,
        ) as server,
    ):
        try:
            note = wait_until(
                lambda: server.poll() is not None or next(_notes(runtime), None),
                timeout=TIMEOUT,
                what="JupyterLab",
                seen=lambda: _last_line(log) or "it wrote nothing",
            )
            if not isinstance(note, dict):
                raise CourseError(
                    f"JupyterLab ended at its start, with code {server.returncode}.",
                    f"It says: {_last_line(log)}",
                    "Install the course's packages again: ./course setup",
                )
            yield f"{note['url']}lab?token={note['token']}"
        finally:
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()


def _page(address: str) -> bytes:
    # A proxy is for other machines, whatever the variables say.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(address, timeout=TIMEOUT) as page:
        return bytes(page.read(PAGE))


def _notes(runtime: Path) -> Iterator[dict[str, str]]:
    """What a server notes of itself when it listens."""
    for path in runtime.glob("jpserver-*.json"):
        with contextlib.suppress(ValueError, OSError):  # half written, at this moment
            yield json.loads(path.read_text("utf-8"))


def _last_line(log: Path) -> str:
    """Of a traceback the line that says what it was."""
    return (log.read_text("utf-8", "replace").strip().splitlines() or [""])[-1][-400:]
