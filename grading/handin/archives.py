"""Archives inside an upload: zip and tar, packed or not, read member by member and with bounds.

Nothing is unpacked to a place that a member names. What an archive says about its size does not
matter: bytes are counted as they come. Hidden files, packages and links are passed over first, so
a repository or an environment that lies beside the work costs nothing.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Protocol

MOST_MEMBERS = 200_000
LARGEST = 500_000_000  # bytes, of an archive inside an upload and of what a tar holds
IN_MEMORY = 20_000_000
CHUNK = 1 << 20
BROKEN = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
    *(RuntimeError, OSError, EOFError, NotImplementedError, ValueError),
)
TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
NOT_READ = (".rar", ".7z", ".tar.zst", ".gz", ".xz", ".bz2")
LEFT_BEHIND = {"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"}
PACKAGES = {"site-packages", "node_modules", "venv"}


class CannotOpen(Exception):
    """A file or archive that gives nothing; the text says why."""


@dataclass(frozen=True)
class PackedFile:
    """A plain file of an archive, whose place stays inside it. `changed` orders members."""

    place: PurePosixPath
    changed: float
    open: Opener


class Opener(Protocol):
    """Opens a file for reading its bytes."""

    def __call__(self) -> IO[bytes]: ...


def is_archive(name: str) -> bool:
    """Whether it can be read here."""
    return name.lower().endswith((".zip", *TARS))


def is_foreign(name: str) -> bool:
    """Whether it is an archive that cannot be read here."""
    return not is_archive(name) and name.lower().endswith(NOT_READ)


def is_dropped(place: PurePosixPath) -> bool:
    """What systems, git, Jupyter and environments leave behind."""
    return any(is_hidden(part) for part in place.parts)


def is_hidden(name: str) -> bool:
    return name.startswith(".") or name in LEFT_BEHIND | PACKAGES


def members(opened: IO[bytes], name: str, ignored: list[str]) -> Iterator[PackedFile]:
    """The files of an archive; raises CannotOpen. Each can be read until the next is asked for."""
    if name.lower().endswith(TARS):
        yield from _of_tar(opened, ignored)
    else:
        yield from _of_zip(opened, ignored)


@contextlib.contextmanager
def copied(source: Opener) -> Iterator[IO[bytes]]:
    """A file that can be read at any place, of at most LARGEST bytes."""
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as copy:
        try:
            with source() as opened:
                _copy(opened, copy)
        except BROKEN as error:
            raise CannotOpen(f"it cannot be unpacked ({error})") from None
        copy.seek(0)
        yield copy


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    left = LARGEST
    while chunk := source.read(CHUNK):
        left -= len(chunk)
        if left < 0:
            raise CannotOpen(f"it holds more than {LARGEST // 1_000_000} MB")
        target.write(chunk)


def _of_zip(opened: IO[bytes], ignored: list[str]) -> Iterator[PackedFile]:
    try:
        archive = zipfile.ZipFile(opened)
    except BROKEN as error:
        raise CannotOpen(f"it is no readable zip file ({error})") from None
    with archive:
        found = archive.infolist()
        if len(found) > MOST_MEMBERS:
            raise CannotOpen(f"it holds more than {MOST_MEMBERS} files")
        for info in found:
            place = PurePosixPath(info.filename.replace("\\", "/"))
            if info.is_dir() or is_dropped(PurePosixPath(*_inner(place))):
                continue
            if _is_plain(place, stat.S_ISLNK(info.external_attr >> 16), info.filename, ignored):
                yield PackedFile(place, _minutes(info), lambda info=info: archive.open(info))


def _of_tar(opened: IO[bytes], ignored: list[str]) -> Iterator[PackedFile]:
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as copy:
        try:
            _copy(_unpacked(opened), copy)
            copy.seek(0)
            with tarfile.open(fileobj=copy, mode="r:") as archive:
                for number, info in enumerate(archive):
                    if number >= MOST_MEMBERS:
                        raise CannotOpen(f"it holds more than {MOST_MEMBERS} files")
                    place = PurePosixPath(info.name.removeprefix("./"))
                    if info.isdir() or is_dropped(PurePosixPath(*_inner(place))):
                        continue
                    if _is_plain(place, not info.isfile(), info.name, ignored):
                        yield PackedFile(
                            place, info.mtime, lambda info=info: _extracted(archive, info)
                        )
        except BROKEN as error:
            raise CannotOpen(f"it is no readable tar archive ({error})") from None


def _extracted(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    opened = archive.extractfile(info)
    if opened is None:
        raise CannotOpen("it is no plain file")
    return opened


def _unpacked(opened: IO[bytes]) -> IO[bytes]:
    head = opened.read(6)
    opened.seek(0)
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=opened, mode="rb")  # type: ignore[return-value]
    if head.startswith(b"BZh"):
        return bz2.BZ2File(opened)
    if head.startswith(b"\xfd7zXZ"):
        return lzma.LZMAFile(opened)
    return opened


def _inner(place: PurePosixPath) -> tuple[str, ...]:
    """The parts that are names: a path that leaves the archive is told, not passed over."""
    return tuple(part for part in place.parts if part not in {"..", "/"})


def _is_plain(place: PurePosixPath, is_link: bool, name: str, ignored: list[str]) -> bool:
    if place.is_absolute() or ".." in place.parts or not place.parts:
        ignored.append(f"{name}: a path that leaves the archive")
    elif is_link:
        ignored.append(f"{name}: a link or no plain file")
    else:
        return True
    return False


def _minutes(info: zipfile.ZipInfo) -> float:
    """A number that grows with the time of the member; compared with others like it only."""
    year, month, day, hour, minute, second = info.date_time
    return (((year * 12 + month) * 31 + day) * 24 + hour) * 60 + minute + second / 60
