"""Where things lie: the repository, the cache of this machine, the folders of running clusters.

The cache (jars, AOT caches) may be deleted at any time; the state (one folder per running cluster)
may not. KAFKALAB_CACHE and KAFKALAB_STATE move them. Where the usual folder cannot be written, as
with a read-only home, a private folder among the temporary files takes its place.
"""

import functools
import os
import sys
import tempfile
from pathlib import Path

import platformdirs

from kafkalab.errors import CourseError


def repository() -> Path:
    """The folder that holds docker-compose.yml, the notebooks and the labs."""
    return Path(__file__).resolve().parent.parent


def offer_programs(folder: Path) -> None:
    """Let Python find the packages in this folder, wherever the notebook that runs them lies.

    A copy beside the notebook goes before it: the learner may have changed that one.
    """
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def cache() -> Path:
    """The folder for what can be fetched or recorded again."""
    return _place("cache", "KAFKALAB_CACHE", os.environ.get("KAFKALAB_CACHE", ""))


def state() -> Path:
    """The folder for running clusters, shared by every process of this user."""
    return _place("state", "KAFKALAB_STATE", os.environ.get("KAFKALAB_STATE", ""))


@functools.cache
def _place(kind: str, variable: str, chosen: str) -> Path:
    if chosen:
        folder = Path(chosen).expanduser().absolute()
        if why := _unwritable(folder):
            raise CourseError(
                f"{folder}, named by {variable}, cannot be written.",
                f"The system says: {why}.",
                f"Let {variable} name a folder of yours, or unset it.",
            )
        return folder
    if kind == "cache":
        usual = platformdirs.user_cache_path("kafkalab")
    else:
        usual = platformdirs.user_state_path("kafkalab")
    why = _unwritable(usual)
    if not why:
        return usual
    spare = Path(tempfile.gettempdir()) / f"kafkalab-{os.getuid()}" / kind
    if spare_why := _unwritable(spare.parent) or _foreign(spare.parent) or _unwritable(spare):
        raise CourseError(
            f"Neither {usual} nor {spare} can be written.",
            f"The system says: {why}; {spare_why}.",
            f"Let {variable} name a folder of yours: export {variable}=FOLDER",
        )
    print(
        f"{usual} cannot be written ({why}). Using {spare}, which may not outlive a restart; "
        f"{variable} chooses another folder.",
        file=sys.stderr,
    )
    return spare


def _unwritable(folder: Path) -> str:
    """Make the folder and write into it; the system's words where it refuses, else nothing."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _foreign(folder: Path) -> str:
    # Another user could have prepared this well-known name among the temporary files.
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        return f"{folder} belongs to somebody else or is open to others"
    return ""
