"""A broker, Spark and JupyterLab are really started, within a time, and nothing stays."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from commands import app
from kafkalab.setup.doctor import attempts, examination, trial
from kafkalab.setup.doctor.attempts import ATTEMPTS, TimedAttempt
from kafkalab.setup.doctor.diagnosis import Diagnosis
from kafkalab.wait import wait_until
from tests.isolation import without_network

JUPYTERLAB = next(attempt for attempt in ATTEMPTS if attempt.name == "jupyterlab")
BROKER = next(attempt for attempt in ATTEMPTS if attempt.name == "broker")


def running(mark: str) -> list[psutil.Process]:
    """Processes that inherited this mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("KAFKALAB_TEST_MARK") == mark:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def mark(monkeypatch, tmp_path):
    """Stands in the environment of all that is started; the state is of this test's own."""
    monkeypatch.setenv("KAFKALAB_TEST_MARK", str(tmp_path))
    monkeypatch.setenv("KAFKALAB_STATE", str(tmp_path / "state"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    return str(tmp_path)


def all_gone(mark: str) -> None:
    wait_until(
        lambda: not running(mark),
        timeout=30,
        what="the end of what was started",
        seen=lambda: [process.cmdline()[:6] for process in running(mark)],
    )
    assert list(Path(mark, "tmp").glob("kafkalab-*")) == []


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(400)
def test_the_command_tries_all_three_says_so_and_leaves_nothing(mark):
    command = [sys.executable, "-P", "-m", "commands.app", "doctor", "--json"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=390)

    findings = {finding["subject"]: finding for finding in json.loads(done.stdout)}
    for attempt in ATTEMPTS:
        assert findings[attempt.name]["level"] == "good", findings[attempt.name]
        assert attempt.doing in done.stderr
    assert "a record was sent and read" in findings["broker"]["seen"]
    assert "macOS" in findings["not tried here"]["seen"]
    all_gone(mark)


@pytest.mark.process
def test_an_attempt_that_fails_says_why_and_what_to_do(mark, monkeypatch):
    monkeypatch.setenv("KAFKALAB_JAVA_HOME", "/nowhere")

    found = attempts.make(TimedAttempt("broker", BROKER.doing, 60, needs_java=False))

    assert (found.subject, found.level) == ("broker", "bad")
    assert "/nowhere" in found.seen
    assert found.mend.startswith("Let KAFKALAB_JAVA_HOME name the folder")


def test_of_a_failure_in_java_the_cause_is_told():
    page = (
        "An error occurred.\n: Exception: first\n\tat a.b\nCaused by: Cause: second\n\t... 9 more\n"
    )

    assert trial.root(page) == "Caused by: Cause: second"
    assert trial.root("one line\nanother") == "one line"


@pytest.mark.slow
def test_without_loopback_nothing_is_tried():
    code = (
        "from kafkalab.setup.doctor import attempts;"
        "print(*[attempts.make(attempt).seen for attempt in attempts.ATTEMPTS], sep='\\n')"
    )
    command = [*without_network(), sys.executable, "-P", "-c", code]

    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60).stdout

    assert said.splitlines() == ["not tried: nothing is reached at 127.0.0.1"] * len(ATTEMPTS)


def test_the_command_prints_what_it_found_letter_by_letter(monkeypatch, capsys):
    """Such as a line for /etc/passwd, in which some would see a picture."""
    found = Diagnosis("user", "note", "learner:x:1000", "", "[bold]")
    monkeypatch.setattr(examination, "examine", lambda announce: [found])

    assert app.main(["doctor"]) == 0

    assert "learner:x:1000" in capsys.readouterr().out


def test_without_java_packages_nothing_is_fetched_only_to_try(mark, monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKALAB_CACHE", str(tmp_path / "cache"))

    found = attempts.make(BROKER)

    assert (found.level, found.seen) == (
        "note",
        "not tried: the Java packages are not there yet",
    )
    assert "./course setup" in found.mend
    assert running(mark) == []


@pytest.mark.slow
def test_an_attempt_has_a_time_limit_and_is_ended_at_it(mark):
    found = attempts.make(TimedAttempt("jupyterlab", JUPYTERLAB.doing, 1, needs_java=False))

    assert (found.level, found.seen) == ("bad", "not done after 1 s")
    all_gone(mark)


@pytest.mark.slow
def test_what_was_tried_ends_with_a_doctor_that_is_killed(mark):
    code = (
        "from kafkalab.setup.doctor import attempts;"
        "attempts.make(next(a for a in attempts.ATTEMPTS if a.name == 'jupyterlab'))"
    )
    with subprocess.Popen([sys.executable, "-P", "-c", code]) as doctor:
        wait_until(
            lambda: any("--no-browser" in process.cmdline() for process in running(mark)),
            timeout=60,
            what="JupyterLab to be started",
            not_yet=(psutil.Error,),
        )
        os.kill(doctor.pid, signal.SIGKILL)

    all_gone(mark)
