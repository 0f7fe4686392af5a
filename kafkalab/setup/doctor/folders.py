"""The folders that the course writes to: there, writable, with room, under a name that Java can
read.

Standard library alone; where the cache and the state lie is told by whoever knows.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kafkalab.machine.room import is_full
from kafkalab.setup.doctor.diagnosis import Diagnosis
from kafkalab.setup.doctor.system import repository

GIB = 1024**3
# The Python packages, the Java packages, the caches, and the logs of a lesson.
DISK = 3 * GIB
# Of the folder for temporary files, where Spark keeps what does not fit into memory.
TEMPORARY = GIB // 4
PROBE = 1_000_000  # bytes that are really written


def home() -> Diagnosis:
    """Whether the home folder can be written; where not, the course does without it."""
    told = _judged("home", {Path.home(): "Let HOME name a folder of yours: export HOME=FOLDER"})
    return replace(told, level="note") if told.level == "bad" else told


def temporary() -> Diagnosis:
    """Whether there is a folder for temporary files with some room."""
    mend = "Let TMPDIR name a folder of yours on a disk with room: export TMPDIR=FOLDER"
    try:
        folder = Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        return Diagnosis("temporary files", "bad", str(error), "No folder can be written.", mend)
    told = _judged("temporary files", {folder: mend})
    free = shutil.disk_usage(folder).free
    if told.level == "good" and free < TEMPORARY:
        return Diagnosis(
            told.subject,
            "bad",
            f"{free / GIB:.2f} GiB free at {folder}",
            f"Spark and Java keep files there; a lesson wants {TEMPORARY / GIB:.2f} GiB.",
            mend,
        )
    return told


def course() -> Diagnosis:
    """Whether your copies of the lessons can be written."""
    folder = repository()
    why = unwritable(folder)
    if not why:
        return Diagnosis("folder of the course", "good", f"{folder} can be written")
    return Diagnosis(
        "folder of the course",
        "bad",
        f"{folder} cannot be written: {why}",
        "Your copies of the lessons (work) and the pages of runs (build) lie in it.",
        "Make room on this disk."
        if is_full(folder)
        else f"Copy the course to a folder of your own: cp -r {folder} ~/kafka-course",
    )


def named_folders(environment: Mapping[str, str] = os.environ) -> Diagnosis:
    """Whether what KAFKALAB_CACHE and KAFKALAB_STATE name can be used."""
    named = {
        Path(environment[name]).expanduser(): f"Let {name} name a folder of yours, or unset it."
        for name in ("KAFKALAB_CACHE", "KAFKALAB_STATE")
        if environment.get(name)
    }
    if not named:
        return Diagnosis("cache and state", "good", "in their usual places")
    return _judged("cache and state", named)


def room(folders: Mapping[Path, int]) -> Diagnosis:
    """Whether each disk has the room that is wanted there; tells of the one that is worst off."""
    free = {folder: shutil.disk_usage(_there(folder)).free for folder in folders}
    folder = min(free, key=lambda one: free[one] - folders[one])
    seen = f"{free[folder] / GIB:.1f} GiB free at {folder}"
    if free[folder] < folders[folder]:
        return Diagnosis(
            "disk",
            "bad",
            seen,
            f"The course's packages and a lesson's logs want {folders[folder] / GIB:.1f} GiB.",
            "Make room, or let KAFKALAB_CACHE and KAFKALAB_STATE name folders on another disk.",
        )
    return Diagnosis("disk", "good", seen)


def unwritable(folder: Path) -> str:
    """Write a file into the folder and forget it; the system's words where it refuses."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(PROBE))
            file.flush()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _judged(subject: str, folders: Mapping[Path, str]) -> Diagnosis:
    """The first of these folders that does not work, with what mends it."""
    for folder, mend in folders.items():
        if why := unwritable(_there(folder)):
            return Diagnosis(
                subject, "bad", f"{folder} cannot be written: {why}", "Files are kept there.", mend
            )
    strange = [folder for folder in folders if not str(folder).isascii()]
    if strange:
        return Diagnosis(
            subject,
            "note",
            f"{strange[0]} has letters beyond ASCII in its name",
            "Not every Java program reads such a path. The broker and Spark are tried below.",
            f"If they fail: {folders[strange[0]]}",
        )
    return Diagnosis(subject, "good", ", ".join(map(str, folders)))


def _there(folder: Path) -> Path:
    """The folder, or the nearest above it that exists already."""
    return next(one for one in (folder, *folder.parents) if one.exists())
