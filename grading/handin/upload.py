"""The files of a folder or an archive, one at a time: no links, no paths that leave it, no bombs.

Nothing is unpacked to disk, and what is no notebook and no archive is listed but hardly opened.
Bounds count what may be somebody's work, not what is passed over anyway.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grading.handin import archives, names
from grading.handin.archives import BROKEN, CannotOpen, Opener, PackedFile, is_archive, is_hidden
from grading.handin.notebookfile import LARGEST_FILE

MOST_WORK = 20_000
MOST_INNER_WORK = 500
DEEPEST = 4
NOTEBOOKS = (".ipynb", ".ipynb.json", ".ipynb.txt")
PERHAPS = ("", ".json", ".txt")
"""Endings under which browsers and systems store a notebook as well."""
GLANCE = 4096


@dataclass(frozen=True)
class File:
    """A file of the upload. `place` is relative to it, for showing."""

    place: PurePosixPath
    changed: float
    open: Opener

    def data(self) -> bytes:
        """Its bytes, at most one more than a notebook may have."""
        return self._read(LARGEST_FILE + 1)

    def is_notebook(self) -> bool:
        """By its name; where the ending leaves it open, by its first bytes."""
        name = self.place.name.lower()
        if name.endswith(NOTEBOOKS):
            return True
        if self.place.suffix.lower() not in PERHAPS:
            return False
        try:
            start = self._read(GLANCE).lstrip(b"\xef\xbb\xbf \t\r\n")
        except CannotOpen:
            return False
        return start.startswith(b"{") and (b'"cells"' in start or b'"nbformat"' in start)

    def is_work(self) -> bool:
        """Whether it may be what somebody handed in."""
        return is_archive(self.place.name) or self.place.name.lower().endswith(NOTEBOOKS)

    def _read(self, most: int) -> bytes:
        try:
            with self.open() as opened:
                return opened.read(most)
        except OSError as error:
            raise CannotOpen(f"it cannot be opened ({error.strerror or error})") from None
        except BROKEN as error:
            raise CannotOpen(f"it cannot be unpacked ({error})") from None


def files(path: Path, ignored: list[str]) -> Iterator[File]:
    """Every file of an upload; an empty folder shows as a file without a notebook's name."""
    whose = _whose(path)
    if path.is_dir():
        found: Iterable[File] = _walk(path, ignored, whose)
    elif is_archive(path.name) and not whose.parts:
        found = _class_archive(path, ignored)
    else:
        found = [File(whose / path.name, path.stat().st_mtime, lambda: path.open("rb"))]
    bound = Bound(MOST_WORK)
    for file in found:
        bound.spend(file)
        if is_archive(file.place.name) and file.place.name == str(file.place):
            yield from _class_in(file, ignored)
        else:
            yield file


def _whose(path: Path) -> PurePosixPath:
    """The folder that Moodle makes of one hand-in, where the path is one or lies in one."""
    folder = path.resolve() if path.is_dir() else path.resolve().parent
    return PurePosixPath(folder.name if names.MOODLE.fullmatch(folder.name) else "")


@dataclass
class Bound:
    """How much may still come of one person's archives, however they lie in one another."""

    left: int
    deepest: int = DEEPEST

    def spend(self, file: File) -> None:
        """Count what may be work; raises CannotOpen where it is too much."""
        self.left -= file.is_work()
        if self.left < 0:
            raise CannotOpen("it holds far too many notebooks and archives")


def inner_files(archive: File, ignored: list[str]) -> Iterator[File]:
    """The files of an archive inside the upload, archives too; raises CannotOpen."""
    with archives.copied(archive.open) as opened:
        for member in archives.members(opened, archive.place.name, ignored):
            yield _file(archive.place.parent, member)


def _file(folder: PurePosixPath, member: PackedFile) -> File:
    return File(folder / member.place, member.changed, member.open)


def _class_archive(path: Path, ignored: list[str]) -> Iterator[File]:
    with path.open("rb") as opened:
        places = [member.place for member in archives.members(opened, path.name, [])]
        surplus = 1 if _lies_in_one_folder(places) else 0
        opened.seek(0)
        for member in archives.members(opened, path.name, ignored):
            place = PurePosixPath(*member.place.parts[surplus:])
            yield File(place, member.changed, member.open)


def _class_in(archive: File, ignored: list[str]) -> Iterator[File]:
    """What a platform gave out, packed once more, is a class; any other archive is somebody's."""
    if not names.said(archive.place).platform:
        try:
            with archives.copied(archive.open) as opened:
                for member in archives.members(opened, archive.place.name, []):
                    if names.said(member.place).platform:
                        opened.seek(0)
                        inside = archives.members(opened, archive.place.name, ignored)
                        yield from (_file(PurePosixPath(), one) for one in inside)
                        return
        except CannotOpen:
            pass  # told at the hand-in that it then is
    yield archive


def _walk(root: Path, ignored: list[str], whose: PurePosixPath) -> Iterator[File]:
    for folder, folders, inside in os.walk(root):
        here = Path(folder)
        place = whose / here.relative_to(root).as_posix()
        for name in sorted(folders):
            if is_hidden(name) or (here / name).is_symlink():
                folders.remove(name)
                if not is_hidden(name):
                    ignored.append(f"{place / name}: a link or no plain file")
        folders.sort()
        if not folders and not inside and here != root:
            yield File(place / "(empty folder)", 0, io.BytesIO)
        for name in sorted(inside):
            if is_hidden(name):
                continue
            path = here / name
            state = path.lstat()
            if stat.S_ISREG(state.st_mode):
                yield File(place / name, state.st_mtime, lambda path=path: path.open("rb"))
            else:
                ignored.append(f"{place / name}: a link or no plain file")


def _lies_in_one_folder(places: list[PurePosixPath]) -> bool:
    """Whether the archive is that of a folder of hand-ins, and not of one student's folder."""
    tops = {place.parts[0] for place in places}
    if len(tops) != 1 or any(len(place.parts) == 1 for place in places):
        return False
    if names.said(places[0]).platform:
        return False
    if any(names.said(PurePosixPath(*place.parts[1:])).platform for place in places):
        return True
    work = [p for p in places if is_archive(p.name) or p.name.lower().endswith(NOTEBOOKS)]
    return len(work) > 1 or any(len(place.parts) > 2 for place in work)
