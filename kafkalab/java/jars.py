"""The Java archives of the course: fetched once, verified, kept in the cache of this machine.

jars.json holds, for every set, the roots that were asked for and each file with its exact
coordinate, SHA-256 and size. To change a set, edit its roots and run
`python -m authoring.renew_jars`.
"""

import contextlib
import errno
import fcntl
import functools
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kafkalab import places
from kafkalab.errors import CourseError
from kafkalab.java import ivy
from kafkalab.progress import told

LOCK_FILE = Path(__file__).with_name("jars.json")
STAMP = ".verified.json"
# One date for every file: a file that is fetched again does not make an AOT cache unusable.
DATE = 1_577_836_800


class DamagedJar(CourseError):
    """A file that came from the registry or a bundle is not the one in jars.json."""


@dataclass(frozen=True)
class Jar:
    """A file of the lock: `size` in bytes, `sha256` in hexadecimal digits."""

    artifact: ivy.Artifact
    sha256: str
    size: int


def jars(name: str) -> list[Path]:
    """The verified files of a set, always in the same order; fetched first where missing."""
    wanted = locked(name)
    folder = folder_of(name)
    if not _stamped(folder, wanted):
        with _lock(name) as lock:
            if not _stamped(folder, wanted):
                _complete(name, folder, wanted, lock)
    return [folder / jar.artifact.file_name for jar in wanted]


@functools.cache
def locked(name: str) -> tuple[Jar, ...]:
    """What jars.json says of a set."""
    sets = json.loads(LOCK_FILE.read_text("utf-8"))
    if name not in sets:
        raise CourseError(f"There is no set of jars {name!r}.", f"jars.json has {list(sets)}.")
    return tuple(
        Jar(ivy.Artifact.parse(line["coordinate"]), line["sha256"], line["size"])
        for line in sets[name]["files"]
    )


def names() -> list[str]:
    """The sets that there are."""
    return list(json.loads(LOCK_FILE.read_text("utf-8")))


def folder_of(name: str) -> Path:
    """Where a set lies or will lie; another content of the lock file has another folder."""
    sums = "".join(jar.sha256 for jar in locked(name))
    return places.cache() / "jars" / f"{name}-{hashlib.sha256(sums.encode()).hexdigest()[:12]}"


def adopt(name: str, files: dict[Jar, Path]) -> None:
    """Take verified files, which lie on the same disk as the cache, into the set."""
    with _lock(name):
        _install(files, folder_of(name))
        _stamp(folder_of(name), locked(name))


def intact(path: Path, jar: Jar) -> bool:
    """Whether the file is there and is the one that jars.json means."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != jar.size:
                return False
            return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256
    except FileNotFoundError:
        return False


def _install(files: dict[Jar, Path], folder: Path) -> None:
    """Move files into the folder: all at once where it is new, one by one where it exists."""
    for path in files.values():
        os.utime(path, (DATE, DATE))
    target = folder
    if not folder.exists():
        target = folder.with_name(f".new-{folder.name}")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
    for jar, path in files.items():
        path.replace(target / jar.artifact.file_name)
    if target != folder:
        target.rename(folder)


def _stamp(folder: Path, wanted: Sequence[Jar]) -> None:
    """Note that every sum was verified, so that the next use only looks at size and date."""
    fresh = folder / f"{STAMP}.new"
    fresh.write_text(json.dumps({jar.sha256: _look(folder, jar) for jar in wanted}), "utf-8")
    fresh.replace(folder / STAMP)


def _stamped(folder: Path, wanted: Sequence[Jar]) -> bool:
    try:
        noted = json.loads((folder / STAMP).read_text("utf-8"))
        return all(noted[jar.sha256] == _look(folder, jar) for jar in wanted)
    except (OSError, ValueError, KeyError):
        return False


def _look(folder: Path, jar: Jar) -> list[int]:
    found = (folder / jar.artifact.file_name).stat()
    return [found.st_size, found.st_mtime_ns]


@contextlib.contextmanager
def _lock(name: str) -> Iterator[int]:
    path = places.cache() / "jars" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Another process is fetching {name}; waiting for it.", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _complete(name: str, folder: Path, wanted: Sequence[Jar], lock: int) -> None:
    missing = [jar for jar in wanted if not intact(folder / jar.artifact.file_name, jar)]
    if missing and folder.exists():
        first, more = missing[0].artifact.file_name, len(missing) - 1
        named = f"{first} and {more} more of {name} are" if more else f"{first} is"
        print(f"{named} missing or damaged; fetching again.", file=sys.stderr)
    try:
        if missing:
            work = folder.parent / f".fetch-{name}"
            _install(_fetch(name, missing, work, lock), folder)
            shutil.rmtree(work)
        _stamp(folder, wanted)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise ivy.DiskFull.at(folder.parent) from error


def _fetch(name: str, missing: list[Jar], work: Path, lock: int) -> dict[Jar, Path]:
    total = sum(jar.size for jar in missing)
    if not _room(work, total):
        raise ivy.DiskFull.at(work.parent)
    with _shown(f"Fetching Java packages: {name}", total) as seen:
        try:
            paths = ivy.fetch(
                [jar.artifact for jar in missing],
                work,
                inherit=[lock],
                seen=lambda size: seen(min(size, total)),
            )
        except CourseError as error:
            # Ivy's own words for a full disk do not get through: its log is on that disk.
            if not _room(work, total):
                raise ivy.DiskFull.at(work.parent) from error
            raise
        seen(total)
    by_name = {path.name: path for path in paths}
    result = {}
    for jar in missing:
        path = by_name.get(jar.artifact.file_name, work / jar.artifact.file_name)
        if not intact(path, jar):
            # The next try must not meet the same bad copy in Ivy's own cache.
            path.unlink(missing_ok=True)
            raise DamagedJar(
                f"{jar.artifact.file_name} arrived damaged.",
                "Its SHA-256 sum is not the one in kafkalab/java/jars.json.",
                "Fetch it again: ./course setup",
            )
        result[jar] = path
    return result


@contextlib.contextmanager
def _shown(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar, where one can be drawn over, and lines elsewhere; it wants to be told the bytes."""
    # only where something is fetched: every process that starts Java or a kernel loads this module
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn()
    console, fetched = Console(stderr=True), [0]

    def how_far() -> str:
        return f"{what}, {fetched[0] / 1e6:.0f} of {total / 1e6:.0f} MB"

    # Elsewhere the bar is drawn once, when all is over.
    alive = console.is_terminal or console.is_jupyter
    lines = contextlib.nullcontext() if alive else told(how_far)
    with lines, Progress(*columns, console=console) as progress:
        task = progress.add_task(what, total=total)

        def seen(size: int) -> None:
            fetched[0] = size
            progress.update(task, completed=size)

        yield seen


def _room(work: Path, total: int) -> bool:
    return shutil.disk_usage(work.parent).free > total - ivy.fetched(work)
