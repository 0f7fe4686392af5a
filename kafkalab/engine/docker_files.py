"""Files on their way into a container and out of it, as tar streams."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from kafkalab import environment

# The user of the official image.
USER = 1000
INBOX = PurePosixPath("/tmp")
BLOCK = 1 << 16
LONG = 1.0  # seconds after which somebody looks why a copy is not there
ZEROS = bytes(BLOCK)


def inbox(arguments: Sequence[str]) -> tuple[list[str], bytes]:
    """Find the files of this machine that a tool is to read.

    Returns the arguments with the places that these files will have in the container, and a tar
    archive to unpack at `INBOX` there. An argument may list several files with commas.
    """
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        moved = [
            ",".join(_send(part, tar) for part in argument.split(",")) for argument in arguments
        ]
        return moved, archive.getvalue() if tar.getmembers() else b""


def _send(text: str, tar: tarfile.TarFile) -> str:
    if not text.startswith("/") or not Path(text).is_file():
        return text
    data = Path(text).read_bytes()
    # The content names the folder: the same file sent again takes no more room. The file keeps
    # its own name, because some tools read meaning from it.
    folder = f"kafkalab-{hashlib.sha256(data).hexdigest()[:12]}"
    for entry in (tarfile.TarInfo(folder), tarfile.TarInfo(f"{folder}/{Path(text).name}")):
        entry.uid = entry.gid = USER
        if "/" in entry.name:
            entry.size, entry.mode = len(data), 0o600
            tar.addfile(entry, io.BytesIO(data))
        else:
            entry.type, entry.mode = tarfile.DIRTYPE, 0o700
            tar.addfile(entry)
    return str(INBOX / folder / Path(text).name)


def own_copy(slot: Path, service: str) -> Path:
    """The folder for this thread's copy of a disk; its next copy takes the place of the last.

    A notebook, the fault beside its cell and a check may look at one disk at the same time. In one
    folder each would take away what the other is just reading.
    """
    return slot / "storage" / f"thread-{threading.get_native_id()}" / service


def unpack(stream: io.BufferedReader, folder: Path, drop: int) -> None:
    """Unpack a tar stream into a folder, which is made anew; empty where nothing comes.

    `drop` is how many leading parts the names of the entries lose. Kafka reserves 10 MB for each
    index of a partition and uses little of it, so blocks of zeros become holes.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if not stream.peek(1):
        return
    with tarfile.open(fileobj=stream, mode="r|") as tar:
        for entry in tar:
            path = folder.joinpath(*PurePosixPath(entry.name).parts[drop:])
            if not path.resolve().is_relative_to(folder.resolve()):
                continue
            if entry.isdir():
                path.mkdir(parents=True, exist_ok=True)
            elif entry.isfile() and (source := tar.extractfile(entry)):
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as target:
                    _copy_with_holes(source, target)
                os.utime(path, (entry.mtime, entry.mtime))


def _copy_with_holes(source: IO[bytes], target: IO[bytes]) -> None:
    while block := source.read(BLOCK):
        if block == ZEROS[: len(block)]:
            target.seek(len(block), os.SEEK_CUR)
        else:
            target.write(block)
    target.truncate()


def copied(
    command: Sequence[str],
    folder: Path,
    drop: int,
    timeout: float,
    goes_on: Callable[[], bool],
) -> None:
    """Unpack what a process writes, as `unpack` does; a ReadError where that is not all of it.

    The process is ended at the deadline, and where it takes long and `goes_on` says that it will
    not: what runs in a container stands still with it.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment.for_docker({}),
        start_new_session=True,
    )
    over = threading.Event()
    deadline = time.monotonic() + timeout

    def watch() -> None:
        while not over.wait(LONG):
            if time.monotonic() > deadline or not goes_on():
                process.kill()
                return

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        assert isinstance(process.stdout, io.BufferedReader)  # the end of a pipe
        unpack(process.stdout, folder, drop)
        process.stdout.read()  # what stands behind the archive
        # 1: a file has grown while tar read it. What was not there wrote nothing.
        if process.wait() not in (0, 1) and any(folder.iterdir()):
            raise tarfile.ReadError(f"the copying ended with status {process.returncode}")
    finally:
        over.set()
        watching.join()
        process.kill()
        process.communicate()
