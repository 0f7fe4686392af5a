"""Rows of a SQLite file that somebody else has written and may have written to do harm.

A copy is read by a process of its own that ends after a moment. That process asks for columns of
named tables and nothing else: no view, no virtual table, no function, no trigger, no extension is
evaluated, no other file is opened, and the number of rows, the bytes of a value, the steps, the
memory and the time have limits.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grading.judge.checks import Unseen

READER = Path(__file__).with_name("rows_reader.py")
MOST_ROWS = 5_000
TIMEOUT = 30.0  # seconds for the process, on a machine that is busy


def read(
    name: str, content: bytes, log: bytes, tables: Mapping[str, Sequence[str]]
) -> dict[str, list[list[Any]]]:
    """Table -> its rows; a value is a whole number, a short text, or None for all else."""
    with tempfile.TemporaryDirectory(prefix="kl-rows-") as folder:
        file = Path(folder, "copy.sqlite")
        file.write_bytes(content)
        if log:
            Path(folder, "copy.sqlite-wal").write_bytes(log)
        order = json.dumps({"file": str(file), "tables": dict(tables), "most": MOST_ROWS})
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", str(READER), order],
                cwd=folder,
                env={},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            raise Unseen(f"{name} cannot be read within {TIMEOUT:g} s") from None
    try:
        found = json.loads(done.stdout)
    except ValueError:
        raise Unseen(f"{name} is no database that can be read") from None
    if "error" in found:
        raise Unseen(f"{name}: {found['error']}")
    return found["rows"]
