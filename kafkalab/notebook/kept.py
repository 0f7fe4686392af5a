"""What a reader answered on a page, kept in progress.json beside the pages, through restarts.

Only what JupyterLab runs below the learner's copies is kept there. A page that is run elsewhere
(by `./course run`, by a test, in a copy somewhere) forgets with its kernel.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafkalab.errors import CourseError
from kafkalab.files import write_whole
from kafkalab.notebook import page
from kafkalab.setup.copies import NOTES

FILE = "progress.json"
LOCK = ".progress.lock"
_HERE: dict[str, dict[str, Any]] = {}


def answer(kind: str, name: str) -> dict[str, Any]:
    """What was kept of a prediction, a choice or an exercise of this page; empty for nothing."""
    place = _place()
    pages = read(place[0]) if place else {}
    kept = pages.get(place[1], {}) if place else _HERE
    found = kept.get(kind, {}).get(name, {})
    return dict(found) if isinstance(found, dict) else {}


def keep(kind: str, name: str, **facts: Any) -> None:
    """Add facts to what is known of it. Plain values that JSON knows."""
    place = _place()
    if place is None:
        _HERE.setdefault(kind, {}).setdefault(name, {}).update(facts)
        return
    folder, this = place
    with _alone(folder):
        pages = read(folder)
        pages.setdefault(this, {}).setdefault(kind, {}).setdefault(name, {}).update(facts)
        _write(folder, pages)


def read(folder: Path) -> dict[str, Any]:
    """Page -> kind -> name -> facts, of the copies in this folder.

    Raises CourseError for a file that cannot be read: nobody's answers are written over.
    """
    file = folder / FILE
    try:
        pages = json.loads(file.read_text("utf-8"))["pages"]
        if not all(isinstance(one, dict) for kinds in pages.values() for one in kinds.values()):
            raise TypeError
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise CourseError(
            f"What you have answered so far cannot be read from {file}.",
            f"It may be damaged, or belong to somebody else: {error or 'other contents'}.",
            f"Move it away, and the course begins another one: mv '{file}' '{file}.old'",
        ) from None
    return dict(pages)


def forget(folder: Path, this: str) -> None:
    """Nothing is answered on this page any more, as it is fresh."""
    if not (folder / FILE).exists():
        return
    with _alone(folder):
        pages = read(folder)
        if pages.pop(this, None) is not None:
            _write(folder, pages)


def _place() -> tuple[Path, str] | None:
    """The folder of the learner's copies, and this page's name in it."""
    notebook = page.file()
    if notebook is None:
        return None
    notebook = notebook.absolute()
    folder = next((one for one in notebook.parents if (one / NOTES).is_file()), None)
    return (folder, notebook.stem) if folder else None


def _write(folder: Path, pages: dict[str, Any]) -> None:
    write_whole(folder / FILE, json.dumps({"pages": pages}, indent=1, sort_keys=True) + "\n")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two pages that are open at a time write one after the other."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
