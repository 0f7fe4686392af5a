"""The Java archives of the course: fetched once, verified, kept in the cache of this machine.

jars.json holds, for every set, the roots that were asked for and each file with its exact
coordinate, SHA-256 and size. To change a set, edit its roots and run

    python -m kafkalab.jars --renew [SET ...]

which resolves the roots with all they need and writes the files anew. Review the difference: it is
what every learner's machine will run.
"""

import argparse
import contextlib
import errno
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from kafkalab import ivy, places
from kafkalab.errors import CourseError

LOCK_FILE = Path(__file__).with_name("jars.json")
STAMP = ".verified.json"
# One date for every file: a file that is fetched again does not make an AOT cache unusable.
DATE = 1_577_836_800


class DamagedJar(CourseError):
    """A file that came from the registry or a bundle is not the one in jars.json."""


@dataclass(frozen=True)
class Jar:
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
        print(
            f"{first}{f' and {more} more files of {name}' if more else ''} missing or damaged; "
            "fetching again what is needed.",
            file=sys.stderr,
        )
    try:
        if missing:
            work = folder.parent / f".fetch-{name}"
            _install(_fetch(name, missing, work, lock), folder)
            shutil.rmtree(work)
        _stamp(folder, wanted)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise ivy.DiskFull(
            f"The disk is full, so the Java packages of {name} were not stored.",
            f"They go into {folder.parent}.",
            "Make room, or let KAFKALAB_CACHE name a folder on another disk. Then: ./course setup",
        ) from error


def _fetch(name: str, missing: list[Jar], work: Path, lock: int) -> dict[Jar, Path]:
    total = sum(jar.size for jar in missing)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(f"Fetching Java packages: {name}", total=total)
        paths = ivy.fetch(
            [jar.artifact for jar in missing],
            work,
            inherit=[lock],
            seen=lambda size: progress.update(task, completed=min(size, total)),
        )
    by_name = {path.name: path for path in paths}
    result = {}
    for jar in missing:
        path = by_name.get(jar.artifact.file_name, work / jar.artifact.file_name)
        if not intact(path, jar):
            # The next try must not meet the same bad copy in Ivy's own cache.
            path.unlink(missing_ok=True)
            raise DamagedJar(
                f"{jar.artifact.file_name} arrived damaged.",
                "Its SHA-256 sum is not the one in kafkalab/jars.json.",
                "Fetch it again: ./course setup",
            )
        result[jar] = path
    return result


def renew(chosen: list[str]) -> None:
    """Resolve the roots of the sets again and write the lock file."""
    import pyspark

    spark = [path.name for path in (Path(pyspark.__file__).parent / "jars").glob("*.jar")]
    sets = json.loads(LOCK_FILE.read_text("utf-8"))
    for name in chosen or list(sets):
        roots = [ivy.Artifact.parse(root) for root in sets[name]["roots"]]
        with tempfile.TemporaryDirectory() as work:
            files = []
            for path in ivy.fetch(roots, Path(work), transitive=True):
                artifact = ivy.cached(path)
                if sets[name].get("beside") == "pyspark" and any(
                    re.match(rf"{re.escape(artifact.name)}-\d", jar) for jar in spark
                ):
                    continue
                data = path.read_bytes()
                files.append(
                    {
                        "coordinate": str(artifact),
                        "sha256": hashlib.sha256(data).hexdigest(),
                        "size": len(data),
                    }
                )
        sets[name]["files"] = sorted(files, key=lambda line: line["coordinate"])
        print(f"{name}: {len(files)} files, {sum(f['size'] for f in files) / 1e6:.1f} MB")
    LOCK_FILE.write_text(json.dumps(sets, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m kafkalab.jars", description=__doc__)
    parser.add_argument("--renew", nargs="*", metavar="SET", help="write jars.json anew")
    renew(parser.parse_args().renew or [])
