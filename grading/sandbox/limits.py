"""The grader's side of the program that watches a sandbox (watch.py)."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

from grading.define.definition import Limits
from grading.judge.outcome import Outcome

PROGRAM = Path(__file__).with_name("watch.py")
TELLS_WITHIN = 10.0  # seconds after the end of what it watches


class LimitWatch:
    """Watches the sandbox of the process `pid`, and what lies in the folder shared with it."""

    def __init__(self, pid: int, shared: Path, limits: Limits) -> None:
        numbers = (limits.processes, limits.memory, shared, limits.output)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(PROGRAM), str(pid), *map(str, numbers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    @functools.cached_property
    def verdict(self) -> tuple[Outcome, str] | None:
        """What it ended the sandbox for, in words too. Ask when the sandbox is gone."""
        try:
            said, _ = self._process.communicate(timeout=TELLS_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            said, _ = self._process.communicate()
        outcome, _, words = said.strip().partition(" ")
        return (Outcome(outcome), words) if outcome else None
