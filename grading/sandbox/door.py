"""What a hand-in may do to the brokers: a narrow door out of its sandbox.

kafkalab/engine/door.py is the other side. Everybody may look (`state`, `logs`, `storage`); what
changes a node is for labs whose lab.toml allows it, and what was done is kept as evidence.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socketserver
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from grading.define.definition import DONE_TO_NODES
from kafkalab.engine import Engine
from kafkalab.errors import CourseError

LOOKS = frozenset({"state", "logs", "storage"})
LONGEST_ORDER = 10_000
MOST_LINES = 20_000
LONGEST_STOP = 60.0
DELETED = "-delete"
"""The end of the name of a partition that is to go: perhaps that of a hand-in before this one."""
PART = re.compile(r"(?!\.\.)[\w.][\w.-]*")
"""The name of a file or folder, and nothing that a program would take for a path or an option."""
MOST_COPIED = 400_000_000  # bytes of a copy; the data of a lab is far smaller


class Door:
    """Serves the orders of one sandbox at `path`, one after the other. Copies go to `copies`.

    services: the nodes that it speaks for. allowed: what the lab lets a hand-in do to them.
    """

    def __init__(
        self,
        path: Path,
        copies: Path,
        engine: Engine,
        services: Collection[str],
        allowed: Collection[str] = (),
    ) -> None:
        self.done: list[tuple[float, str]] = []
        """Seconds since the start, and what was done then: evidence."""
        self._engine = engine
        self._services = services
        self._allowed = LOOKS | (DONE_TO_NODES & set(allowed))
        self._copies = copies
        self._began = time.monotonic()
        self._server = socketserver.UnixStreamServer(str(path), _handler(self))
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    def answer(self, line: bytes) -> dict[str, Any]:
        """To one order, whatever it is."""
        try:
            order = json.loads(line)
            do, service = str(order["do"]), str(order["service"])
        except (ValueError, TypeError, KeyError):
            return {"error": ["This is no order.", "", ""]}
        if do not in self._allowed:
            return {"error": [f"This lab does not let you {do} a node.", "Its text says what it "
                              "asks for.", ""]}  # fmt: skip
        if service not in self._services:
            return {"error": [f"There is no node {service[:100]!r}.", "", ""]}
        try:
            return {"answer": self._do(do, service, order)}
        except CourseError as error:
            return {"error": [error.what, error.why, error.mend]}
        except Exception as error:  # an order of odd types is the student's
            return {"error": [f"{do} failed: {type(error).__name__}", str(error)[:300], ""]}

    def _do(self, do: str, service: str, order: dict[str, Any]) -> Any:
        engine = self._engine
        if do == "state":
            return engine.state(service)
        if do == "logs":
            return engine.logs(service, max(1, min(int(order["lines"]), MOST_LINES)))
        if do == "storage":
            return self._copied(service, str(order["part"]), bool(order.get("indexes", True)))
        if do == "stop":
            engine.stop(service, min(float(order["timeout"]), LONGEST_STOP))
        else:
            getattr(engine, do)(service)
        self.done.append((round(time.monotonic() - self._began, 2), f"{do} {service}"))
        return None

    def _copied(self, service: str, part: str, indexes: bool) -> str | None:
        """A copy of a node's log folders, or of what `part` names in them, as they are now."""
        if part and not PART.fullmatch(part):
            raise CourseError("This is no name of a part of a disk.")
        found = self._engine.storage(service, part, indexes)
        if found is None:
            return None
        target = self._copies / service
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        room = MOST_COPIED
        for file in _files(found):
            path = file.relative_to(found)
            if file.is_symlink() or not file.is_file() or (part and part not in path.parts):
                continue
            if any(one.endswith(DELETED) for one in path.parts):
                continue
            with contextlib.suppress(FileNotFoundError):  # a segment that was deleted meanwhile
                room -= file.stat().st_blocks * 512
                if room < 0:
                    raise CourseError(f"The disk of {service} holds too much for a copy.")
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target / path)
        return str(target)


def _files(folder: Path) -> list[Path]:
    """All files below a folder of a broker that runs: folders may go while they are looked at."""
    walked = os.walk(folder)  # passes over what it cannot list, as Path.rglob does not
    return sorted(Path(inner, name) for inner, _, names in walked for name in names)


def _handler(door: Door) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        timeout = 10

        def handle(self) -> None:
            with contextlib.suppress(OSError):
                line = self.rfile.readline(LONGEST_ORDER)
                self.wfile.write(json.dumps(door.answer(line)).encode() + b"\n")

    return Handler
