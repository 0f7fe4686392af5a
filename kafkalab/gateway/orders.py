"""Start the gateway's process, and give it an order and hear that it was carried out."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kafkalab import environment
from kafkalab.errors import CourseError
from kafkalab.gateway import routes
from kafkalab.gateway.routes import Route
from kafkalab.wait import wait_until

SOCKET = "gateway.sock"
LOG = "gateway.log"
DONE = "done"
# What the strictest of the systems allows for the path of a Unix socket, in bytes.
LONGEST_PATH = 103


def start(folder: Path, wanted: Iterable[Route], mark: str) -> subprocess.Popen[bytes]:
    """Run a gateway for the slot with this folder; returns when it listens everywhere."""
    path = folder / SOCKET
    if len(bytes(path)) > LONGEST_PATH:
        raise CourseError(
            f"The gateway cannot listen at {path}.",
            f"The path is longer than the {LONGEST_PATH} bytes that a socket's may have.",
            "Let KAFKALAB_STATE name a folder with a shorter path.",
        )
    routes.write(folder, wanted)
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "kafkalab.gateway.server", mark],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Ctrl-C and a kernel's interrupt are for the owner, not for its gateway.
            start_new_session=True,
            cwd=Path(__file__).parents[2],
            env=environment.for_python(),
        )
    wait_until(
        lambda: process.poll() is not None or give(folder, "clear") == [],
        timeout=20,
        what="the gateway to listen",
        every=0.01,
        not_yet=(CourseError,),
    )
    if process.poll() is not None:
        said = (folder / LOG).read_text(errors="replace").strip().splitlines()
        raise CourseError("The gateway ended while it started.", said[-1] if said else "")
    return process


def give(folder: Path, do: str, **fields: Any) -> list[Any]:
    """What the gateway answers, when the order has taken effect."""
    lines: list[Any] = []
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(folder / SOCKET))
            line.sendall(json.dumps({"do": do, **fields}).encode() + b"\n")
            with line.makefile("rb") as answer:
                lines = [json.loads(part) for part in answer]
        why = f"It ended in the middle of {do!r}."
    except OSError as error:
        why = f"The system says: {error.strerror or error}."
    if not lines or lines.pop() != DONE:
        raise CourseError(
            "The gateway of this cluster does not answer.",
            why,
            "Run the cell that starts the cluster again.",
        )
    return lines
