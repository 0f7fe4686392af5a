"""The engine inside a sandbox: asks for what is done to the nodes at a narrow door.

The door is a Unix socket of the grader, who runs the nodes outside and does no more than the lab
allows. An order is a line of JSON, and so is its answer. Programs of Kafka run inside, as they
only talk to brokers.
"""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

from kafkalab.engine.process import ProcessEngine
from kafkalab.errors import CourseError

DOOR = "KAFKALAB_DOOR"
"""Names the path of the socket."""


class DoorEngine(ProcessEngine):
    """See `kafkalab.engine.Engine`."""

    name = "door"

    def start(self, service: str) -> None:
        self._ask("start", service)

    def stop(self, service: str, timeout: float = 30) -> None:
        self._ask("stop", service, timeout=timeout)

    def kill(self, service: str) -> None:
        self._ask("kill", service)

    def pause(self, service: str) -> None:
        self._ask("pause", service)

    def resume(self, service: str) -> None:
        self._ask("resume", service)

    def wipe(self, service: str) -> None:
        self._ask("wipe", service)

    def state(self, service: str) -> str:
        return str(self._ask("state", service))

    def logs(self, service: str, lines: int = 50) -> str:
        return str(self._ask("logs", service, lines=lines))

    def storage(self, service: str, part: str = "", indexes: bool = True) -> Path | None:
        found = self._ask("storage", service, part=part, indexes=indexes)
        return None if found is None else Path(found)

    def up(self) -> None:
        raise CourseError("This cluster runs already, outside of the sandbox.")

    def down(self) -> None:
        raise CourseError("This cluster is the grader's, who ends it.")

    def _ask(self, do: str, service: str, **more: Any) -> Any:
        self.description.service(service)
        with socket.socket(socket.AF_UNIX) as line:
            try:
                line.connect(os.environ[DOOR])
                line.sendall(json.dumps({"do": do, "service": service, **more}).encode() + b"\n")
                with line.makefile("rb") as answer:
                    told = json.loads(answer.readline())
            except (OSError, KeyError, ValueError) as error:
                raise CourseError("The grader does not answer at the door.", str(error)) from None
        if "error" in told:
            raise CourseError(*told["error"])
        return told["answer"]


def expect() -> None:
    """Nothing: the nodes run elsewhere."""


def clean(folder: Path) -> None:
    """Nothing was started here."""
