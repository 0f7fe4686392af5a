"""Files on their way into a container and out of it, as tar streams."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from kafkalab import environment

# The user of the official image.
USER = 1000
INBOX = PurePosixPath("/tmp")
BLOCK = 1 << 16
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


@contextlib.contextmanager
def reading(command: Sequence[str], timeout: float) -> Iterator[io.BufferedReader]:
    """The output of a process as it comes. The process ends with the block or at the deadline."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment.for_docker({}),
        start_new_session=True,
    )
    deadline = threading.Timer(timeout, process.kill)
    deadline.start()
    try:
        assert isinstance(process.stdout, io.BufferedReader)  # the end of a pipe
        yield process.stdout
    finally:
        deadline.cancel()
        process.kill()
        process.communicate()
