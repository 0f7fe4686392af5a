"""What an attempt is asked to do: all that it needs, as JSON, so that it can travel."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from grading.handin.weave import HandedIn


@dataclass(frozen=True)
class Job:
    """One hand-in to run.

    cluster: the path of a running cluster's description. hidden: run the hidden checks too.
    demos: run all cells that only show something, not just those that the student's code sees.
    transcript: keep what each check asked and was told.
    last: the task after whose checks the run ends; without it the whole notebook runs.
    is_last_try: a machine that is short of memory ends brokers too, so only where one is down a
    second time a cell is blamed.
    times: how many times longer than on a quiet machine it may take; asked before any of the
    student's code runs, which could make the machine busy itself.
    """

    student: str
    seed: str
    cells: Sequence[HandedIn]
    cluster: str | None = None
    hidden: bool = True
    notes: Sequence[str] = ()
    demos: bool = False
    transcript: bool = False
    last: int | None = None
    is_last_try: bool = True
    times: float = 1.0

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Job:
        """The reverse of to_json."""
        table: dict[str, Any] = json.loads(line)
        cells = [HandedIn(**cell | {"tags": tuple(cell["tags"])}) for cell in table["cells"]]
        return cls(**table | {"cells": cells})
