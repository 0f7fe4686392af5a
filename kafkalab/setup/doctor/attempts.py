"""What is tried and not only looked at: a broker, Spark and JupyterLab do what they are for."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

from kafkalab import environment
from kafkalab.errors import CourseError
from kafkalab.java import aot
from kafkalab.machine import lifeline, loopback
from kafkalab.setup.doctor import packages
from kafkalab.setup.doctor.diagnosis import AGAIN, Diagnosis
from kafkalab.spark.loan import POOL

# What would put a cluster or a Java that runs already in the place of a fresh one.
NOT_FRESH = ("KAFKALAB_CLUSTER", POOL)
GRACE = 15  # seconds in which what an attempt started is ended


@dataclass(frozen=True)
class TimedAttempt:
    """`doing` says it to the person who waits, at most so many seconds."""

    name: str
    doing: str
    seconds: int
    needs_java: bool


ATTEMPTS = [
    TimedAttempt("broker", "Starting a broker, sending a record, reading it", 120, needs_java=True),
    TimedAttempt("spark", "Starting Spark, asking it for an answer", 150, needs_java=True),
    TimedAttempt("jupyterlab", "Starting JupyterLab, opening a page of it", 90, needs_java=False),
]


def make(attempt: TimedAttempt) -> Diagnosis:
    """Make the attempt within its time; all that it started is ended when this returns."""
    if attempt.needs_java and not _java_is_there():
        return Diagnosis(
            attempt.name,
            "note",
            "not tried: the Java packages are not there yet",
            "They are fetched on first use.",
            "./course setup, then again: ./course doctor",
        )
    if loopback.refusal():
        return Diagnosis(attempt.name, "bad", f"not tried: nothing is reached at {loopback.HERE}")
    return _made(attempt)


def _made(attempt: TimedAttempt) -> Diagnosis:
    line = lifeline.Lifeline()
    try:
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "kafkalab.setup.doctor.trial", attempt.name],
            stdin=line.theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=_surroundings(),
            # Ctrl-C is for the doctor, who then lets go of the line.
            start_new_session=True,
        ) as trial:
            line.given()
            try:
                said, complaint = trial.communicate(timeout=attempt.seconds)
            except subprocess.TimeoutExpired:
                return Diagnosis(
                    attempt.name,
                    "bad",
                    f"not done after {attempt.seconds} s",
                    "The machine is very busy, or something waits for an answer that never comes.",
                    "End other programs and try again: ./course doctor",
                )
            finally:
                line.let_go()
                _end(trial)
    except OSError as error:
        return Diagnosis(attempt.name, "bad", f"cannot be started: {error}")
    try:
        return Diagnosis(**json.loads(said.splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        words = " ".join(complaint.split())[-400:]
        return Diagnosis(
            attempt.name,
            "bad",
            f"failed, with code {trial.returncode}",
            f"Its last words: {words}" if words else "It wrote nothing.",
            AGAIN,
        )


def _end(trial: subprocess.Popen[str]) -> None:
    """It ends by itself when its line is let go; by force where it does not."""
    try:
        trial.wait(timeout=GRACE)
    except subprocess.TimeoutExpired:
        trial.kill()


def _surroundings() -> dict[str, str]:
    given = environment.for_python()
    given = {name: value for name, value in given.items() if name not in NOT_FRESH}
    if not _quick_start_is_there():
        # Else a quick start would be recorded beside it, for half a minute after the end.
        given["KAFKALAB_AOT"] = "off"
    return given


def _quick_start_is_there() -> bool:
    try:
        return _java_is_there() and all(aot.path_of(name).exists() for name in aot.ARCHIVES)
    except CourseError:
        return False


def _java_is_there() -> bool:
    try:
        return packages.java_packages().level == "good"
    except CourseError:
        return False
