"""What to do where the system refuses to write: a disk that is full, a folder that is read-only."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kafkalab import places
from kafkalab.errors import CourseError
from kafkalab.machine import room

FULL = (errno.ENOSPC, errno.EDQUOT)
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def explain(error: OSError) -> CourseError | None:
    """What a person needs to know of such a refusal; None of any other failure."""
    words = error.strerror or str(error)
    # A rename has two names, and it is the second that is written.
    named = error.filename2 or error.filename
    if error.errno in FULL:
        full = Path(named) if isinstance(named, str) else next(_without_room(), None)
        return CourseError(
            f"{full or 'The system says'}: {words}.",
            "There is no room left to write to.",
            "Make room there, or let KAFKALAB_CACHE, KAFKALAB_STATE and TMPDIR name folders on "
            "another disk. How full each is: ./course doctor",
        )
    if error.errno not in FORBIDDEN:
        return None
    if not isinstance(named, str):
        return CourseError(
            f"The system says: {words}.", "", "What cannot be written: ./course doctor"
        )
    return CourseError(f"{named}: {words}.", *_of_place(Path(named)))


def _of_place(path: Path) -> tuple[str, str]:
    """Why the course writes there, and what mends it."""
    course = places.repository()
    if path.absolute().is_relative_to(course) and not os.access(course, os.W_OK):
        return (
            f"The folder of the course, {course}, cannot be written; your copies of the lessons "
            "(work) and the pages of runs (build) lie in it.",
            f"Copy the course to a folder of your own: cp -r {course} ~/kafka-course; "
            "then call ./course there.",
        )
    owner = next((folder for folder in [path, *path.parents] if folder.exists()), path)
    return f"{owner} cannot be written by you.", f"See whose it is: ls -ld {owner}"


def _without_room() -> Iterator[Path]:
    """The folders of the course whose disk is full; the system does not always name a file."""
    for folder in (Path(tempfile.gettempdir()), _cache(), places.repository()):
        if folder and room.is_full(folder):
            yield folder


def _cache() -> Path | None:
    try:
        return places.cache()
    except CourseError:
        return None
