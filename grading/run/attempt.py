"""One attempt, seen from outside: a process that is given a job and never trusted to end.

`Attempt` boots the process; `run` hands it the job and returns evidence whatever happens. The
limit for the whole run is kept here, and the process ends with all that it started.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grading.define.definition import Definition
from grading.judge.outcome import Outcome
from grading.keep.evidence import Evidence, cell_from_json, result_from_json
from grading.run import pace
from grading.run.fork_server import AttemptProcess, ForkServer
from grading.run.job import Job
from grading.run.outputs import shortened
from grading.run.processes import end_below, end_marked
from grading.run.surroundings import OPEN, Surroundings
from kafkalab import environment

WORKER = "grading.run.worker:main"
FOR_THE_REST = 60.0
FOR_A_CHECK = 10.0
FOR_A_FAULT = 60.0
FOR_DEMOS = 300.0
"""Seconds beyond the limit of the run. The process keeps that limit itself; if it is there even
later, something of ours hangs."""
Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Attempted:
    """What came out of an attempt: evidence always, the notebook that ran where it got so far."""

    evidence: Evidence
    notebook: dict[str, Any] | None = None
    struck_in: str = ""
    """The cell beside which a signal ended the process that grades."""


class Attempt:
    """A process for one attempt at a lab. Boots when made; `run` may come much later.

    server: forks the process, where many are wanted; without one it loads all by itself.
    """

    def __init__(
        self, lab: Definition, around: Surroundings = OPEN, server: ForkServer | None = None
    ) -> None:
        self.lab = lab
        self.folder = Path(tempfile.mkdtemp(prefix="kl-"))
        self.started = time.monotonic()
        self.stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        # No pipe: that of a process of the same user can be opened through /proc, a socket cannot.
        ours, theirs = socket.socketpair()
        read, write = os.pipe()
        self._stdin = os.fdopen(write, "wb")
        words = [lab.name, str(lab.place.root), str(self.folder), around.to_json()]
        with theirs, os.fdopen(read, "rb") as stdin:
            if server is None:
                self.process: AttemptProcess = subprocess.Popen(
                    [sys.executable, "-P", "-m", "grading.run.worker", *words],
                    stdin=stdin,
                    stdout=theirs.fileno(),
                    stderr=self.stderr,
                    start_new_session=True,
                    env=environment.for_python(),
                )
            else:
                self.process = server.start(
                    WORKER, words, stdin.fileno(), theirs.fileno(), self.stderr.fileno()
                )
        self.reports = ours.makefile("rb")
        ours.close()  # the file holds it
        self._is_ended = False

    def run(self, job: Job, report: Report = lambda event: None) -> Attempted:
        """Hand over the job and follow it to its end, or end it."""
        evidence = Evidence(self.lab.name, job.student, job.seed)
        checks = len(self.lab.checks) + sum(task.hidden for task in self.lab.tasks.values())
        limit = self.lab.limits.run + FOR_THE_REST + FOR_A_CHECK * checks
        limit += FOR_A_FAULT * len(self.lab.faults) + FOR_DEMOS * job.demos
        job = replace(job, times=pace.now())
        limit *= job.times
        overtime = threading.Timer(limit, self._out_of_time, [evidence, limit])
        try:
            with contextlib.suppress(BrokenPipeError):
                self._stdin.write(job.to_json().encode() + b"\n")
                self._stdin.flush()
            overtime.start()
            return self._follow(evidence, report)
        finally:
            overtime.cancel()
            self.close()

    def kill(self) -> None:
        """End the process with all that is below it; `run` returns soon after."""
        if self.process.poll() is None:
            self._is_ended = True
            end_below(self.process.pid)
            self.process.kill()

    def close(self) -> None:
        """End the process with all that it and the student's code started. Safe to call twice."""
        self.kill()
        self.process.wait()
        end_marked(self.folder.name)
        shutil.rmtree(self.folder, ignore_errors=True)
        for pipe in (self._stdin, self.reports):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self.stderr.close()

    def _follow(self, evidence: Evidence, report: Report) -> Attempted:
        cell = ""
        for line in self.reports:
            try:
                event = json.loads(line)
            except ValueError:
                break  # the process was ended in the middle of a line
            if event["event"] == "done":
                return Attempted(Evidence.from_json(event["evidence"]), event["notebook"])
            if event["event"] == "fault":
                evidence.refusal, evidence.why = Outcome.INFRA, event["why"]
                return Attempted(evidence)
            if event["event"] == "checks":
                evidence.results += [result_from_json(result) for result in event["results"]]
                evidence.cells = {int(n): cell_from_json(c) for n, c in event["cells"].items()}
            if event["event"] == "cell" and event["task"] is not None:
                cell = f"the cell of task {event['task']}"
            report(event)
        is_ours = bool(evidence.why) or self._is_ended  # out of time, or nobody wants it any more
        evidence.why = evidence.why or self._last_words()
        evidence.refusal = Outcome.INFRA
        is_struck = not is_ours and self.process.wait() < 0
        return Attempted(evidence, struck_in=cell if is_struck else "")

    def _out_of_time(self, evidence: Evidence, limit: float) -> None:
        evidence.why = f"the grading process was not done after {limit:g} s"
        self.kill()

    def _last_words(self) -> str:
        self.process.wait()
        self.stderr.seek(0)
        said = shortened(self.stderr.read().decode(errors="replace"), 4_000)
        return f"the grading process ended with {self.process.returncode}: {said}".strip()
