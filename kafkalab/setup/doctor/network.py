"""What listens on 127.0.0.1 must be reached, and `localhost` must mean that.

Standard library alone.
"""

from __future__ import annotations

import socket
import threading

from kafkalab.machine import loopback as own_address
from kafkalab.setup.doctor.diagnosis import Diagnosis

TIMEOUT = 5  # seconds: whoever has to wait longer for a name waits at each start of a program


def loopback() -> Diagnosis:
    """Whether this machine reaches itself; a CourseError where not."""
    own_address.require()
    return Diagnosis("loopback", "good", f"a connection to {own_address.HERE} works")


def names() -> Diagnosis:
    """Whether the system's name service answers, and what it takes `localhost` for."""
    own = socket.gethostname()
    found = {name: answer(name) for name in ("localhost", own)}
    late = [name for name, addresses in found.items() if addresses is None]
    if late:
        return Diagnosis(
            "names",
            "note",
            f"no answer within {TIMEOUT} s for {' and '.join(late)}",
            "Programs that ask for this name wait as long at each start. The name service of this "
            "machine is set to a server that is out of reach.",
            f"Let the machine know it by itself, as root: echo '127.0.0.1 {late[0]}' >> /etc/hosts",
        )
    addresses = found["localhost"] or []
    if own_address.HERE in addresses:
        return Diagnosis("names", "good", f"localhost is {', '.join(addresses)}")
    seen = f"localhost is {', '.join(addresses)}" if addresses else "localhost means nothing here"
    return Diagnosis(
        "names",
        "note",
        f"{seen}, and not {own_address.HERE}",
        f"The course itself says {own_address.HERE}; a program of yours that says localhost does "
        "not find its brokers.",
        f"Use cluster.address in your programs. Or, as root: echo '{own_address.HERE} localhost' "
        ">> /etc/hosts",
    )


def answer(name: str) -> list[str] | None:
    """The addresses of a name, none where it is unknown; None where no answer comes in time."""
    found: list[str] = []

    def look() -> None:
        try:
            told = socket.getaddrinfo(name, 9092, type=socket.SOCK_STREAM)
        except OSError:
            return
        found.extend(dict.fromkeys(str(one[4][0]) for one in told))

    # The system offers no deadline. The thread ends with this process at the latest.
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(TIMEOUT)
    return None if thread.is_alive() else found
