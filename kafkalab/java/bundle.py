"""The Java packages in one file, for rooms without a network.

A bundle is a zip archive: the lock file, and for each set a folder with its files. An import takes
it whole or not at all: every file that jars.json names must be there with its SHA-256 sum.
"""

import contextlib
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from kafkalab import places
from kafkalab.errors import CourseError
from kafkalab.java import jars


def write(path: Path) -> int:
    """Store every set (fetched first where missing) in `path`; the number of files."""
    count = 0
    fresh = path.with_name(f".{path.name}.new")
    try:
        # The archives are compressed already.
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_STORED) as bundle:
            bundle.write(jars.LOCK_FILE, jars.LOCK_FILE.name)
            for name in jars.names():
                for file in jars.jars(name):
                    bundle.write(file, f"{name}/{file.name}")
                    count += 1
        fresh.replace(path)
    except OSError as error:
        raise CourseError(
            f"The bundle {path} cannot be written.",
            f"The system says: {error.strerror or error}.",
            "Name a file in a folder of yours with 100 MB of room.",
        ) from error
    finally:
        fresh.unlink(missing_ok=True)
    return count


def read(path: Path) -> int:
    """Put what a bundle holds into the cache of this machine; the number of files."""
    folder = places.cache() / "jars"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".bundle-", dir=folder) as scratch:
        with _opened(path) as bundle:
            found = {name: _unpack(bundle, name, Path(scratch)) for name in jars.names()}
        for name, files in found.items():
            jars.adopt(name, files)
    return sum(len(files) for files in found.values())


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    again = "Make the bundle again where there is a network: ./course setup --export FILE"
    try:
        with zipfile.ZipFile(path) as bundle:
            yield bundle
    except FileNotFoundError as error:
        raise CourseError(f"There is no file {path}.", "", again) from error
    except KeyError as error:
        raise CourseError(
            f"{path} is not a bundle of this version of the course.",
            f"It lacks a file that this version needs: {error.args[0]}",
            again,
        ) from error
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise CourseError(
            f"{path} is damaged or is no bundle. Nothing was taken from it.",
            f"It cannot be read as a zip archive: {error}.",
            again,
        ) from error


def _unpack(bundle: zipfile.ZipFile, name: str, scratch: Path) -> dict[jars.Jar, Path]:
    # Only names that our own lock file knows are ever looked up or written.
    files = {}
    for jar in jars.locked(name):
        path = scratch / name / jar.artifact.file_name
        path.parent.mkdir(exist_ok=True)
        inside = bundle.getinfo(f"{name}/{jar.artifact.file_name}")
        if inside.file_size == jar.size:
            path.write_bytes(bundle.read(inside))
        if not jars.intact(path, jar):
            raise jars.DamagedJar(
                f"{jar.artifact.file_name} in the bundle is not the file that the course needs.",
                "Its SHA-256 sum is not that of kafkalab/java/jars.json. Nothing was taken over.",
                "Make the bundle again where there is a network: ./course setup --export FILE",
            )
        files[jar] = path
    return files
