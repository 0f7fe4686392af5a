"""Whether this machine reaches itself at 127.0.0.1, where all that the course starts listens."""

from __future__ import annotations

import socket
import sys

from kafkalab.errors import CourseError

HERE = "127.0.0.1"
TIMEOUT = 3  # seconds: a firewall that drops packets lets a connection wait


class NoLoopback(CourseError):
    """Nothing on this machine can be reached at 127.0.0.1."""


def refusal() -> str:
    """Make a connection to 127.0.0.1; the system's words where none comes about, else nothing."""
    try:
        with (
            socket.create_server((HERE, 0)) as server,
            socket.create_connection(server.getsockname(), TIMEOUT),
        ):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def require() -> None:
    """A NoLoopback where there is no way to 127.0.0.1: whoever starts a server says so first."""
    if words := refusal():
        up = "sudo ifconfig lo0 up" if sys.platform == "darwin" else "sudo ip link set lo up"
        raise NoLoopback(
            f"This machine does not reach itself at {HERE}.",
            f"Brokers, Spark and JupyterLab listen there and nowhere else. The system says: {words}"
            ".",
            f"Bring the loopback interface up: {up}. If it is up, a firewall or a sandbox is in "
            "the way.",
        )
