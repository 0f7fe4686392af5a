"""The folder of a site: all of it or nothing, and never over something else."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kafkalab.errors import CourseError

MARK = "search-index.js"
ENDINGS = {".html", ".css", ".js"}


def expect_free_or_a_site(folder: Path) -> None:
    """A CourseError where writing would take something that is no older site."""
    if not folder.exists():
        return
    inside = list(folder.iterdir()) if folder.is_dir() else [folder]
    is_a_site = folder / MARK in inside and all(one.suffix in ENDINGS for one in inside)
    if inside and not is_a_site:
        raise CourseError(
            f"{folder} is there already, and no site of the course.",
            "What is in it would be lost.",
            "Name a folder that is not there.",
        )


def write(files: Mapping[str, str], folder: Path) -> None:
    """Write the files by name, and take away what an older site had."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name, text in files.items():
            (unfinished / name).write_text(text, "utf-8")
        unfinished.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
