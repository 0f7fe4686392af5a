"""The files of a folder or zip, one at a time: no links, no paths that leave it, no bombs.

Nothing is unpacked to disk, and what is no notebook and no zip is listed but never opened.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from grading.handin.notebookfile import LARGEST

MOST_FILES = 20_000
MOST_INNER_FILES = 500
BROKEN = (zipfile.BadZipFile, RuntimeError, OSError, EOFError, NotImplementedError, ValueError)


class CannotOpen(Exception):
    """A file or archive that gives nothing; the text says why."""


@dataclass(frozen=True)
class File:
    """A file of the upload. `place` is relative to it, for showing; `data` reads it."""

    place: PurePosixPath
    changed: float
    data: Callable[[], bytes]


def files(path: Path, ignored: list[str]) -> Iterator[File]:
    """Every file of an upload; an empty folder shows as a file without a notebook's name."""
    if path.is_dir():
        yield from _walk(path, ignored)
    elif zipfile.is_zipfile(path):
        with path.open("rb") as opened:
            yield from _members(opened, ignored, MOST_FILES)
    else:
        yield File(PurePosixPath(path.name), path.stat().st_mtime, lambda: _read(path))


def inner_files(archive: File, ignored: list[str]) -> Iterator[File]:
    """The files of a zip inside the upload, as platforms nest them; raises CannotOpen."""
    yield from _members(io.BytesIO(archive.data()), ignored, MOST_INNER_FILES)


def is_hidden(name: str) -> bool:
    """What systems and Jupyter leave behind."""
    return name.startswith(".") or name in {"__MACOSX", "__pycache__", "Thumbs.db"}


def _walk(root: Path, ignored: list[str]) -> Iterator[File]:
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        place = PurePosixPath(here.relative_to(root).as_posix())
        for name in sorted(folders):
            if is_hidden(name) or (here / name).is_symlink():
                folders.remove(name)
                if not is_hidden(name):
                    ignored.append(f"{place / name}: a link")
        folders.sort()
        if not folders and not names and here != root:
            yield File(place / "(empty folder)", 0, lambda: b"")
        for name in sorted(names):
            if is_hidden(name):
                continue
            path = here / name
            state = path.lstat()
            if stat.S_ISREG(state.st_mode):
                yield File(place / name, state.st_mtime, partial(_read, path))
            else:
                ignored.append(f"{place / name}: a link or no plain file")


def _read(path: Path) -> bytes:
    """At most one byte more than a notebook may have."""
    try:
        with path.open("rb") as opened:
            return opened.read(LARGEST + 1)
    except OSError as error:
        raise CannotOpen(f"it cannot be opened ({error.strerror})") from None


def _members(opened: io.BufferedIOBase, ignored: list[str], most: int) -> Iterator[File]:
    try:
        archive = zipfile.ZipFile(opened)
    except BROKEN as error:
        raise CannotOpen(f"it is no readable zip file ({error})") from None
    with archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if len(members) > most:
            raise CannotOpen(f"the zip file holds more than {most} files")
        places = {
            info: PurePosixPath(info.filename.replace("\\", "/"))
            for info in members
            if _is_plain(info, ignored)
        }
        surplus = 1 if _lies_in_one_folder(list(places.values())) else 0
        for info, place in places.items():
            yield File(
                PurePosixPath(*place.parts[surplus:]),
                _minutes(info),
                partial(_unpack, archive, info),
            )


def _is_plain(info: zipfile.ZipInfo, ignored: list[str]) -> bool:
    place = PurePosixPath(info.filename.replace("\\", "/"))
    if place.is_absolute() or ".." in place.parts or not place.parts:
        ignored.append(f"{info.filename}: a path that leaves the archive")
    elif stat.S_ISLNK(info.external_attr >> 16):
        ignored.append(f"{info.filename}: a link")
    else:
        return not any(map(is_hidden, place.parts))
    return False


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Counted while unpacking, so what the archive says about its size does not matter."""
    try:
        with archive.open(info) as opened:
            return opened.read(LARGEST + 1)
    except BROKEN as error:
        raise CannotOpen(f"it cannot be unpacked ({error})") from None


def _lies_in_one_folder(places: list[PurePosixPath]) -> bool:
    """Whether the archive is the zip of a folder of hand-ins, and not of one student's folder."""
    tops = {place.parts[0] for place in places}
    if len(tops) != 1 or any(len(place.parts) == 1 for place in places):
        return False
    work = [place for place in places if place.suffix.lower() in {".ipynb", ".zip"}]
    return len(work) > 1 or any(len(place.parts) > 2 for place in work)


def _minutes(info: zipfile.ZipInfo) -> float:
    """A number that grows with the time of the member; compared with others like it only."""
    year, month, day, hour, minute, second = info.date_time
    return (((year * 12 + month) * 31 + day) * 24 + hour) * 60 + minute + second / 60
