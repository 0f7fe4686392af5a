"""The process of one attempt: `python -m grading.run.worker LAB ROOT FOLDER SURROUNDINGS`.

It starts the kernel, then waits for a job on standard input, so that a lane can have the next one
ready while the last still runs. It reports on standard output, a JSON object a line: `ready`, then
`cell` and `checks` as they come, at last `done` with the evidence. When standard input ends its
parent is gone, and it ends with all that it started.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from grading.define import definition, master, seed
from grading.define.asked import asked
from grading.faults.injection import Breaking
from grading.judge.outcome import Outcome
from grading.judge.visible import Visible
from grading.judge.witness import Witnessed, written
from grading.keep.evidence import Evidence
from grading.run.job import Job
from grading.run.loaded import load, loaded
from grading.run.processes import adopt_orphans, end_below
from grading.run.surroundings import Surroundings

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from grading.judge.view import ClusterView
    from grading.run.kernel import StudentKernel
    from grading.sandbox.ways import Ways

WARM_UP = "import grading.lab, kafka, kafkalab.cluster.cluster"
CLUSTER = "KAFKALAB_CLUSTER"


class Grader:
    """A lab and a kernel, ready for a job; `phases` are seconds."""

    def __init__(self, lab: definition.Definition, kernel: StudentKernel, out: TextIO) -> None:
        self.lab = lab
        self.kernel = kernel
        self.blank = master.blank(lab)
        self.phases: dict[str, float] = {}
        self._out = out

    def say(self, event: str, **content: Any) -> None:
        """One line for the parent."""
        self._out.write(json.dumps({"event": event, **content}) + "\n")
        self._out.flush()

    def attempt(self, job: Job) -> tuple[Evidence, NotebookNode | None]:
        """Run a hand-in and look at what it did: evidence, and the notebook with its outputs."""
        from grading.handin.weave import Unclear, weave
        from grading.run.engine import run
        from grading.run.examiner import Examiner
        from grading.run.graded_notebook import GradedNotebook

        lab, p = self.lab, seed.parameters(self.lab.make, job.seed)
        ways = self.ways(job.cluster)
        with self.phase("weave"):
            try:
                woven = weave(
                    self.blank,
                    job.cells,
                    first=first_cell(job, ways),
                    values=lab.values,
                    apart=as_a_reader(),
                    all_shown=job.demos,
                    asked=asked(lab),
                )
            except Unclear as why:
                whose = (lab.name, job.student, job.seed)
                return Evidence.refused(*whose, Outcome.UNCLEAR, str(why), job.notes), None
        view = self.attach(job.cluster)
        graded = GradedNotebook(self.kernel, lab.limits, job.times)
        x = (Witnessed if job.transcript else Visible)(graded, view, p, job.seed)
        x.may_blame = job.is_last_try
        breaking = Breaking(
            lab.faults, job.cluster, p, woven.unanswered, self.kernel, job.is_last_try
        )
        graded.injected = breaking.injected
        hidden = lab.hidden_checks() if job.hidden else ()
        examiner = Examiner(self.say, lab, graded, x, hidden, woven.unanswered, breaking)
        with self.phase("run"):
            notebook = run(woven.notebook, graded, examiner, job.last, job.demos)
            if job.last is None:
                examiner.at_end()
        self.phases |= {
            name: round(seconds, 3)
            for name, seconds in {
                "checks": examiner.spent,
                "cells": graded.spent,
                "values": graded.spent_on_values,
                "faults": breaking.spent,
            }.items()
        }
        costs = [
            words
            for task, some in graded.costs.items()
            if task not in woven.unanswered
            for words in some
        ]
        return Evidence(
            lab.name,
            job.student,
            job.seed,
            parameters=dict(p),
            cells=graded.cells,
            results=examiner.results,
            unanswered=sorted(woven.unanswered),
            answers=woven.answers,
            oddities=[*job.notes, *woven.oddities, *costs, *graded.missed],
            trouble=graded.trouble,
            faults=list(breaking.injected.values()),
            done_to_nodes=ways.done if ways else [],
            ended=graded.ended.state if graded.ended else None,
            why=graded.ended.error if graded.ended else "",
            is_complete=True,
            snapshots=examiner.snapshots,
            phases=self.phases,
            transcript=written(x.transcript) if isinstance(x, Witnessed) else "",
        ), notebook

    def attach(self, path: str | None) -> ClusterView | None:
        """The cluster of this attempt as the checks see it."""
        if path is None:
            return None
        from grading.judge.view import ClusterView
        from kafkalab.cluster.cluster import Cluster

        with self.phase("attach"):
            view = ClusterView(Cluster.attach(path))
            view.open_reader()
            return view

    def ways(self, path: str | None) -> Ways | None:
        """The ways out of the sandbox to the cluster; None where the kernel is in none."""
        if path is None or self.kernel.sandbox is None:
            return None
        from grading.sandbox.ways import Ways

        with self.phase("ways"):
            return Ways(self.kernel.folder, path, self.lab.students_may)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Take the seconds of a block."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.phases[name] = round(time.monotonic() - started, 3)


def first_cell(job: Job, ways: Ways | None) -> str:
    """Tells the notebook whose it is. Code of ours in front of the master's."""
    from grading.lab import SEED

    values = {SEED: job.seed}
    if job.cluster is not None and ways is None:
        values[CLUSTER] = job.cluster
    cell = f"# Put here by the grader.\nimport os\n\nos.environ.update({values!r})"
    return cell if ways is None else f"{cell}\n{ways.cell}"


def as_a_reader() -> str:
    """Code in front of a cell that shows something: another cluster that it starts is one."""
    return f"# Put here by the grader.\nos.environ.pop({CLUSTER!r}, None)"


def main(name: str, root: str, place: str, surroundings: str) -> None:
    """Start the kernel, take a job, report. The words are those of the command."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what any library prints must not get between the lines
    adopt_orphans()
    started = time.monotonic()
    from grading.run.graded_notebook import SetUpFailed
    from grading.run.kernel import KernelDidNotStart, Sandbox, StudentKernel

    lab = definition.load(name, Path(root))
    folder = Path(place)
    around = Surroundings.from_json(surroundings)
    sandbox = Sandbox(lab.place, lab.limits) if around.is_sandboxed else None
    kernel = StudentKernel(folder, folder.name, sandbox, around.wheels)
    grader = Grader(lab, kernel, out)
    try:
        kernel.start()
        warm_up(kernel, lab)
        # while the kernel warms up and nobody waits
        from grading.handin.weave import as_handed_in, weave

        load(loaded(lab, around))
        weave(grader.blank, as_handed_in(grader.blank))  # reads the code of the course once

        grader.phases["boot"] = round(time.monotonic() - started, 3)
        grader.say("ready")
        line = sys.stdin.readline()
        if not line:
            return  # the attempt was not needed, or nobody is there any more
        end_with_parent(folder)
        evidence, notebook = grader.attempt(Job.from_json(line))
        grader.say("done", evidence=evidence.to_json(), notebook=notebook)
    except (SetUpFailed, KernelDidNotStart) as why:
        grader.say("fault", why=f"{type(why).__name__}: {why}")
    except Exception:
        grader.say("fault", why=traceback.format_exc())
    finally:
        end_below(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)


def warm_up(kernel: StudentKernel, lab: definition.Definition) -> None:
    """Load what every lab loads, in the kernel, before the clock of the student runs."""
    if lab.profile != definition.NO_CLUSTER:
        kernel.client.execute(WARM_UP, silent=True, store_history=False)


def end_with_parent(folder: Path) -> None:
    """Watch for the end of standard input: then nobody is there to take a result."""

    def watch() -> None:
        sys.stdin.read()
        end_below(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
