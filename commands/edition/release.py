"""Writing an edition: all of it or nothing, and never over something else."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from commands.edition.contents import OF_AN_EDITION
from kafkalab.errors import CourseError
from kafkalab.files import write_whole

TOP = "kafka-course"
"""The one folder in an archive, so that nobody fills a folder of downloads with it."""
PROGRAMS = {"course", "start", "postBuild"}
THE_SAME_TIME = (1980, 1, 1, 0, 0, 0)  # the same course makes the same archive


def write(files: Mapping[PurePosixPath, bytes], target: Path) -> None:
    """Write the files of an edition to a folder, or to an archive if its name ends in .zip."""
    if target.suffix.lower() == ".zip":
        _expect_free_or_an_edition(target)
        write_whole(target, _archive(files))
    else:
        _expect_free(target)
        _write_folder(files, target)


def _expect_free(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(
            f"{folder} is there already.",
            "What is in it would be lost or mixed with the edition.",
            "Name a folder that is not there, or an archive: FILE.zip",
        )


def _expect_free_or_an_edition(file: Path) -> None:
    """An older edition is replaced; whatever else has the name stays."""
    if not file.exists():
        return
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            if f"{TOP}/{OF_AN_EDITION}" in archive.namelist():
                return
    raise CourseError(
        f"{file} is there already, and no edition.", "It would be lost.", "Choose another name."
    )


def _archive(files: Mapping[PurePosixPath, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(f"{TOP}/{path}", THE_SAME_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = _mode(path) << 16
            archive.writestr(entry, content)
    return written.getvalue()


def _write_folder(files: Mapping[PurePosixPath, bytes], folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for path, content in files.items():
            file = unfinished / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(_mode(path))
        unfinished.chmod(0o755)
        os.replace(unfinished, folder)  # noqa: PTH105 - takes the place of an empty folder
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _mode(path: PurePosixPath) -> int:
    return 0o755 if path.name in PROGRAMS else 0o644
