"""Where `./course grade` and `verify` let hand-ins run."""

from __future__ import annotations

from pathlib import Path

from grading.define.definition import NO_CLUSTER, Definition
from grading.run.surroundings import Surroundings
from grading.sandbox import bubblewrap
from kafkalab.errors import CourseError
from kafkalab.java import jars


def chosen(lab: Definition, is_trusted: bool, wheels: Path | None = None) -> Surroundings:
    """Without a sandbox only if the teacher says so."""
    if not is_trusted:
        bubblewrap.require()
        if lab.profile != NO_CLUSTER:
            for name in jars.names():
                jars.jars(name)  # fetched now: from a sandbox there is no network
    if wheels is not None and not any(wheels.glob("*.whl")):
        raise CourseError(
            f"There are no wheels in {wheels}.", "", "Fill it: pip download --dest FOLDER PACKAGE"
        )
    return Surroundings(not is_trusted, wheels and wheels.resolve())
