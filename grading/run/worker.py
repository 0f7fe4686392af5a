"""The process of one attempt: `python -m grading.run.worker LAB ROOT FOLDER`.

It starts the kernel, then waits for a job on standard input, so that a batch can have the next one
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
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from grading.define import definition, master, seed
from grading.faults.fault import Injected
from grading.faults.injection import Breaking, without_its_fault
from grading.judge import checks
from grading.judge.checks import Check, Result
from grading.judge.outcome import Outcome
from grading.judge.visible import Doors
from grading.keep.evidence import Evidence
from grading.run.processes import adopt_orphans, end_below
from grading.run.quick_import import without_web_grammar

if TYPE_CHECKING:
    from grading.judge.view import ClusterView
    from grading.run.engine import Run
    from grading.run.kernel import Kernel

WARM_UP = "import grading.lab, kafka, kafkalab.cluster.cluster"
NOTHING_DONE = 0.1  # patience of the checks of a task that has no answer


class SetUpFailed(Exception):
    """A cell of the master failed before any of the student's ran."""


class Worker:
    """One attempt at one lab."""

    def __init__(self, lab: definition.Definition, kernel: Kernel, out: TextIO) -> None:
        self.lab = lab
        self.kernel = kernel
        self.out = out
        self.master = master.blank(lab)
        self.phases: dict[str, float] = {}

    def say(self, event: str, **content: Any) -> None:
        """One line for the parent."""
        self.out.write(json.dumps({"event": event, **content}) + "\n")
        self.out.flush()

    def attempt(self, job: dict[str, Any]) -> tuple[Evidence, dict[str, Any]]:
        """Run a hand-in and look at what it did: evidence, and the notebook with its outputs."""
        from grading.handin.weave import HandedIn, weave
        from grading.run.engine import Run, run

        p = seed.parameters(self.lab.make, job["seed"])
        evidence = Evidence(self.lab.name, job["student"], job["seed"], dict(p))
        with self.phase("weave"):
            handed_in = [HandedIn(**cell) for cell in job["cells"]]
            woven = weave(self.master, handed_in, first_cell(job), self.lab.values)
        evidence.unanswered = sorted(woven.unanswered)
        evidence.oddities = [*job["notes"], *woven.oddities]
        view = self.attach(job["cluster"])
        asked = Run(self.kernel, self.lab.limits)
        x = Doors(asked, view, p, job["seed"])
        hidden = self.lab.hidden_checks() if job["hidden"] else ()
        looking = Looking(self, asked, x, (*self.lab.checks, *hidden), woven.unanswered, view)
        asked.at_cell, asked.at_check = looking.at_cell, looking.at_task
        breaking = Breaking(self.lab.faults, job["cluster"], p, woven.unanswered, self.kernel)
        asked.beside, looking.injected = breaking.beside, breaking.injected
        evidence.cells, evidence.results = asked.cells, looking.results
        evidence.trouble, evidence.snapshots = asked.trouble, looking.snapshots
        with self.phase("run"):
            notebook = run(woven.notebook, asked)
            looking.at_end()
        self.phases |= {"cells": round(asked.spent, 3), "values": round(asked.spent_on_values, 3)}
        if asked.ended is not None:
            evidence.ended, evidence.why = asked.ended.state, asked.ended.error
        self.phases["faults"] = round(breaking.spent, 3)
        evidence.faults = list(breaking.injected.values())
        evidence.phases, evidence.is_complete = self.phases, True
        return evidence, notebook

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

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the seconds of a block to a phase."""
        started = time.monotonic()
        try:
            yield
        finally:
            seconds = time.monotonic() - started
            self.phases[name] = round(self.phases.get(name, 0) + seconds, 3)


class Looking:
    """Runs the checks at their places and keeps what they found."""

    def __init__(
        self,
        worker: Worker,
        asked: Run,
        x: Doors,
        all_checks: tuple[Check, ...],
        unanswered: frozenset[int],
        view: ClusterView | None,
    ) -> None:
        self.worker = worker
        self.asked = asked
        self.x = x
        self.checks = all_checks
        self.unanswered = unanswered
        self.view = view
        self.results: list[Result] = []
        self.snapshots: dict[str, Any] = {}
        self.injected: Mapping[int, Injected] = {}

    def at_cell(self, task: int | None) -> None:
        """A cell begins. Before the first answer nothing can fail but what is ours."""
        if task is not None and not self.asked.cells and self.asked.trouble:
            raise SetUpFailed(self.asked.trouble[0])
        self.worker.say("cell", task=task)

    def at_task(self, task: int) -> None:
        """At the check cell of a task, before later cells can change what it left."""
        self._look(f"task {task}", [c for c in self.checks if c.task == task and c.at == "after"])

    def at_end(self) -> None:
        """After the last cell."""
        self._look("end", [check for check in self.checks if check.at == "end"])

    def _look(self, place: str, due: list[Check]) -> None:
        with self.worker.phase("checks"):
            if self.view is not None:
                self.view.forget()
            found = [self._result(check) for check in due]
            if self.view is not None:
                self.snapshots[place] = self.view.seen
        cells = {number: asdict(cell) for number, cell in self.asked.cells.items()}
        self.worker.say("checks", results=[asdict(result) for result in found], cells=cells)

    def _result(self, check: Check) -> Result:
        cell = self.asked.cells.get(check.task)
        if cell is None or cell.state is Outcome.NOT_REACHED:
            result = Result(check.id, Outcome.NOT_REACHED)
        else:
            self.x.patience = NOTHING_DONE if check.task in self.unanswered else 1.0
            earlier = {result.check: result for result in self.results}
            result = without_its_fault(check, self.injected) or checks.run_in_order(
                check, self.x, earlier
            )
        self.results.append(result)
        return result


def first_cell(job: dict[str, Any]) -> str:
    """Tells the notebook whose it is. Code of ours in front of the master's."""
    from grading.lab import SEED

    values = {SEED: job["seed"]}
    if job["cluster"] is not None:
        values["KAFKALAB_CLUSTER"] = job["cluster"]
    return f"# Put here by the grader.\nimport os\n\nos.environ.update({values!r})"


def main() -> None:
    """Start the kernel, take a job, report."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what any library prints must not get between the lines
    adopt_orphans()
    started = time.monotonic()
    without_web_grammar()
    from grading.run.kernel import Kernel, KernelDidNotStart

    lab = definition.load(sys.argv[1], Path(sys.argv[2]))
    folder = Path(sys.argv[3])
    kernel = Kernel(folder, mark=folder.name)
    worker = Worker(lab, kernel, out)
    try:
        kernel.start()
        warm_up(kernel, lab)
        worker.phases["boot"] = round(time.monotonic() - started, 3)
        worker.say("ready")
        line = sys.stdin.readline()
        if not line:
            return  # the attempt was not needed, or nobody is there any more
        end_with_parent(folder)
        evidence, notebook = worker.attempt(json.loads(line))
        worker.say("done", evidence=evidence.to_json(), notebook=notebook)
    except (SetUpFailed, KernelDidNotStart) as why:
        worker.say("fault", why=f"{type(why).__name__}: {why}")
    except Exception:
        worker.say("fault", why=traceback.format_exc())
    finally:
        end_below(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)


def warm_up(kernel: Kernel, lab: definition.Definition) -> None:
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
    main()
