"""Files that are whole or what they were before, and folders that nobody had."""

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


def new_folder(parent: Path, name: str) -> Path:
    """A folder that was not there before: NAME-1, NAME-2."""
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = parent / f"{name}-{number}"
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder
