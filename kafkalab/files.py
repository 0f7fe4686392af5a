"""Files that are whole, or what they were before."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(file: Path, content: str | bytes) -> None:
    """The file has the old content or the new one, whatever happens in between."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    with unfinished.open("wb") as opened:
        opened.write(content.encode() if isinstance(content, str) else content)
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.replace(file)
