"""Archives of prepared Java classes, which start a JVM about three times as fast.

Java can store the classes of a program loaded, checked and linked (class data sharing with
`-XX:+AOTClassLinking`). Such an archive is recorded here by watching which classes a real run
loads, so one archive serves broker, controller and console tools alike. An `-XX:AOTCache` would
hold the classes of one program only; one file for all started as fast and is shared in memory.

An archive fits one Java and one class path, so its name carries a digest of both. It is never
needed: where there is none, or Java refuses it, programs start slower and all else is the same.
KAFKALAB_AOT=off goes without, for a comparison.

    python -m kafkalab.java.aot [kafka] [spark]      record what is missing; ends by itself
"""

import argparse
import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path

from kafkalab import environment, places
from kafkalab.errors import CourseError
from kafkalab.java import jars, same
from kafkalab.java.runtime import java

ARCHIVES = ("kafka", "spark")
ARCHIVE_OF = {"broker": "kafka", "controller": "kafka", "tool": "kafka", "spark": "spark"}
# Raised when a training run changes, so that archives are recorded anew.
RECIPES = {"kafka": 1, "spark": 2}
KEPT = 4
IN_USE = 24 * 3600  # seconds: archives that were used so lately are kept, however many
# Set for a training run: "kafka=FOLDER" makes every JVM of that archive list its classes there.
TRAINING = "KAFKALAB_AOT_TRAINING"
DEADLINE = 300


def cache_flags(purpose: str) -> list[str]:
    """The JVM flags for a broker, controller, tool or Spark driver; none where no archive fits.

    Where one is missing, a process in the background records it for the next start.
    """
    name = ARCHIVE_OF[purpose]
    if os.environ.get("KAFKALAB_AOT") == "off":
        return []
    training, _, folder = os.environ.get(TRAINING, "").partition("=")
    if training == name:
        return [f"-XX:DumpLoadedClassList={folder}/{uuid.uuid4().hex}.classes"]
    archive = path_of(name)
    if not archive.exists():
        if not training:
            record_in_background(name)
        return []
    with contextlib.suppress(OSError):  # one that is only lent, as in a sandbox
        os.utime(archive)
    # A remark of the JVM about its archive must not stand in the output of a tool.
    return [f"-XX:SharedArchiveFile={archive}", "-Xlog:disable", "-Xlog:all=error:stderr"]


def path_of(name: str) -> Path:
    """Where the archive lies, or will, for the Java and the class path of today."""
    runtime = java()
    parts: list[object] = [
        RECIPES[name],
        runtime.version,
        *_stat([runtime.home / "lib" / "modules"]),
    ]
    if name == "spark":
        parts += _stat([*_pyspark_jars(), *jars.jars("spark-kafka")])
    else:
        parts += _stat(jars.jars("kafka"))
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    return places.cache() / "aot" / f"{name}-{digest}.jsa"


@functools.cache
def record_in_background(*names: str) -> None:
    """Start a process that records the archives at the lowest priority and outlives this one."""
    wanted = [name for name in names if not path_of(name).with_suffix(".failed").exists()]
    if not wanted or os.environ.get("KAFKALAB_AOT") == "off":
        return
    folder = places.cache() / "aot"
    folder.mkdir(exist_ok=True)
    with (folder / "background.log").open("ab") as log:
        subprocess.Popen(
            [sys.executable, "-P", "-m", "kafkalab.java.aot", "--background", *wanted],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=folder,
            # a lesson run counts what carries this mark as left behind (authoring/leftovers.py)
            env={n: value for n, value in environment.for_python().items() if n != "KAFKALAB_RUN"},
        )


def record(name: str) -> Path:
    """Record the archive unless it is there. One at a time: waits for a process that is at it."""
    archive = path_of(name)
    archive.parent.mkdir(parents=True, exist_ok=True)
    with (archive.parent / "recording.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if archive.exists():
            return archive
        for left in archive.parent.glob(".training-*"):
            shutil.rmtree(left)
        try:
            with tempfile.TemporaryDirectory(prefix=".training-", dir=archive.parent) as folder:
                _record(name, archive, Path(folder))
        except CourseError as error:
            archive.with_suffix(".failed").write_text(str(error), "utf-8")
            raise
        archive.with_suffix(".failed").unlink(missing_ok=True)
    forget(name, archive.parent)
    return archive


def _record(name: str, archive: Path, folder: Path) -> None:
    run(
        [sys.executable, "-P", "-m", "kafkalab.java.recording", name, str(folder)],
        folder,
        f"The training run for the archive {name} failed.",
        environment.for_python() | {TRAINING: f"{name}={folder}"},
    )
    class_list, fresh = folder / "all.classes", folder / archive.name
    lists = [path.read_text("utf-8") for path in sorted(folder.glob("*.classes"))]
    class_list.write_text("\n".join(merge(lists)) + "\n", "utf-8")
    linking = ["-XX:+AOTClassLinking"] if java().major >= 24 else []
    run(
        [
            str(java().executable),
            "-Xshare:dump",
            *same.options(folder),
            "-XX:+UseSerialGC",
            *linking,
            f"-XX:SharedClassListFile={class_list}",
            f"-XX:SharedArchiveFile={fresh}",
            # the class path of the run, and what else an archive is tied to
            f"@{folder / 'java.options'}",
        ],
        folder,
        f"Java could not write the archive {name}.",
        environment.for_java(),
    )
    # With linked classes Java does not start at all where the archive cannot be loaded (an initial
    # heap below 16 MB, for one). So it is used only after it was seen to work here.
    run(
        [
            str(java().executable),
            *same.options(folder),
            "-XX:+UseSerialGC",
            f"-XX:SharedArchiveFile={fresh}",
            f"@{folder / 'java.options'}",
            "-version",
        ],
        folder,
        f"Java cannot use the archive {name}.",
        environment.for_java(),
    )
    fresh.replace(archive)


def merge(lists: Iterable[str]) -> list[str]:
    """One class list of several: without the numbers that only fit within one of them.

    Lines with `source:` speak of those numbers and of loaders that an archive does not serve.
    """
    lines = (
        re.sub(r" id: \d+", "", line)
        for text in lists
        for line in text.splitlines()
        if "source:" not in line and not line.startswith("#")
    )
    return list(dict.fromkeys(lines))


def run(command: list[str], folder: Path, failed: str, variables: Mapping[str, str]) -> None:
    mend = "The course works without it. To record it again: ./course setup"
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=DEADLINE,
        )
    except subprocess.TimeoutExpired:
        raise CourseError(failed, f"It was not done after {DEADLINE} seconds.", mend) from None
    if done.returncode:
        said = done.stdout.decode("utf-8", "replace").strip()[-500:]
        raise CourseError(failed, f"Its last words: {said}", mend)


def forget(name: str, folder: Path) -> None:
    """Keep the archives used last: several copies of the course may share this cache."""
    used = {path: path.stat().st_mtime for path in folder.glob(f"{name}-*.jsa")}
    for archive in sorted(used, key=used.__getitem__, reverse=True)[KEPT:]:
        if time.time() - used[archive] > IN_USE:
            archive.unlink(missing_ok=True)


def _pyspark_jars() -> list[Path]:
    import importlib.util

    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return []
    return sorted((Path(spec.origin).parent / "jars").glob("*.jar"))


def _stat(files: Iterable[Path]) -> list[tuple[str, int, int]]:
    found = ((path, path.stat()) for path in files)
    return [(str(path), stat.st_size, stat.st_mtime_ns) for path, stat in found]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m kafkalab.java.aot")
    parser.add_argument("archive", nargs="*", choices=ARCHIVES)
    parser.add_argument("--background", action="store_true", help="give way to all other work")
    arguments = parser.parse_args()
    if arguments.background:
        os.nice(19)
    for wanted in arguments.archive or ARCHIVES:
        try:
            print(record(wanted))
        except CourseError as error:
            sys.exit(str(error))
