"""Faults beside the cells of a notebook, in grading and where a learner practises.

A task cell is told by its first line, `# Task N`. The learner's notebook runs the same faults as
the grader, with the parameters of that notebook, and prints after the cell what was broken.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython import get_ipython

from grading.define.marks import TASK_LINE
from grading.faults.breaker import Breaker
from grading.faults.fault import Fault, Injected, Injection
from grading.judge.checks import Check, Finding, Result
from grading.judge.outcome import Outcome

if TYPE_CHECKING:
    from grading.define.definition import Definition
    from grading.define.seed import Parameters
    from grading.run.kernel import StudentKernel
    from kafkalab.cluster.cluster import Cluster

HOOKS = {"pre_run_cell": "before", "post_run_cell": "after"}


def injection_of(fault: Fault, cluster: str | Path | None, p: Parameters, owner: int) -> Injection:
    """A fault of a lab on a running cluster, with eyes and hands of its own."""
    attached = view = None
    if cluster is not None:
        from grading.judge.view import ClusterView
        from kafkalab.cluster.cluster import Cluster

        attached = Cluster.attach(cluster)
        view = ClusterView(attached, client_id="grading-faults")
    return Injection(fault, Breaker(attached, view, p, owner))


def without_its_fault(
    check: Check, injected: Mapping[int, Injected], may_blame: bool = True
) -> Result | None:
    """The result of a check whose task was not tried by its fault; None where it was.

    `may_blame`: whether a broker that is down is taken for the work of a cell.
    """
    fault = injected.get(check.task)
    if fault is None or fault.is_reached:
        return None
    if fault.error and not (fault.down and may_blame):
        return Result(check.id, Outcome.INFRA, detail=fault.error)
    words = fault.missed
    if fault.error:
        some = ", ".join(map(str, fault.down))
        words = (
            f"the fault of this task could not act: broker {some} did not run, as a cell has "
            "stopped, killed or frozen it. `lab.cluster.mend()` brings it back"
        )
    return Result(check.id, Outcome.FAIL, (Finding(False, words, must=True),), fault.error)


class Breaking:
    """The faults of a lab beside the cells that a grader runs."""

    def __init__(
        self,
        faults: Mapping[int, Fault],
        cluster: str | None,
        p: Parameters,
        unanswered: frozenset[int],
        kernel: StudentKernel,
        may_blame: bool,
    ) -> None:
        self.injected: dict[int, Injected] = {}
        self.spent = 0.0
        """Seconds for setting up and mending."""
        self._faults = faults
        self._cluster = cluster
        self._p = p
        self._unanswered = unanswered
        self._kernel = kernel
        self._may_blame = may_blame

    def without_its_fault(self, check: Check) -> Result | None:
        """See the function of the same name."""
        return without_its_fault(check, self.injected, self._may_blame)

    @contextlib.contextmanager
    def beside(self, task: int | None) -> Iterator[None]:
        """Around the run of a cell: its fault, if it has one. A task may have several cells: the
        fault is there until one of them has met it."""
        fault = self._faults.get(task) if task is not None else None
        former = self.injected.get(task) if task is not None else None
        if task is None or fault is None or (former is not None and former.is_reached):
            yield
        elif task in self._unanswered:
            self.injected[task] = Injected(
                fault.id, task, missed="this task has no answer, so nothing was tried"
            )
            yield
        else:
            owner = self._kernel.pid
            assert owner is not None, "a cell is about to run in it"
            began = time.monotonic()
            injection = injection_of(fault, self._cluster, self._p, owner)
            injection.begin()
            self.spent += time.monotonic() - began
            try:
                yield
            finally:
                over = time.monotonic()
                self.injected[task] = injection.end()
                self.spent += time.monotonic() - over


class Beside:
    """The faults of a lab in the notebook of somebody who practises."""

    _there: Beside | None = None

    def __init__(self, lab: Definition, cluster: Cluster | None, p: Parameters) -> None:
        self._faults = lab.faults
        self._cluster = cluster
        self._p = p
        self.injected = {
            task: Injected(
                fault.id, task, missed=f"nothing was tried yet: run the cell of task {task}"
            )
            for task, fault in lab.faults.items()
        }
        self._running: Injection | None = None
        self._shell = get_ipython()
        if self._shell is None:
            return
        if Beside._there is not None:  # the cell that opens the lab is run again
            Beside._there.leave()
        Beside._there = self
        for event, name in HOOKS.items():
            self._shell.events.register(event, getattr(self, name))

    def leave(self) -> None:
        """Break nothing any more."""
        if Beside._there is self:
            Beside._there = None
            for event, name in HOOKS.items():
                self._shell.events.unregister(event, getattr(self, name))

    def before(self, info: Any) -> None:
        """A cell is about to run."""
        line = TASK_LINE.match(info.raw_cell or "")
        fault = self._faults.get(int(line[1])) if line else None
        if fault is not None:
            record = None if self._cluster is None else self._cluster.slot.record
            self._running = injection_of(fault, record, self._p, os.getpid())
            self._running.begin()

    def after(self, result: Any) -> None:
        """A cell is over: mend, and tell what was broken."""
        if self._running is None:
            return
        injection, self._running = self._running, None
        done = self.injected[injection.fault.task] = injection.end()
        print(told(done))

    def without_its_fault(self, check: Check) -> Result | None:
        """See the function of the same name."""
        return without_its_fault(check, self.injected)


def told(injected: Injected) -> str:
    """What was broken while the cell ran, for who ran it."""
    lines = [f"  {at:5.1f} s  {words}" for at, words in injected.steps]
    if injected.missed:
        lines.append(f"           {injected.missed}")
    if injected.error:
        lines.append(f"           the fault itself failed: {injected.error.splitlines()[-1]}")
    return "\n".join(["While your cell ran:", *lines])
