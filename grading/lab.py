"""The lab in the learner's notebook: its cluster, its parameters, its checks.

lab = Lab.open("lab02_iris")
lab.p.topic          # a name of this student's own
lab.check(1)         # what is there, against what was asked for
lab.score()
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython import get_ipython

from grading.define import definition, seed
from grading.define.definition import NO_CLUSTER
from grading.define.expression import names_in
from grading.define.marks import TASK_LINE
from grading.faults.fault import Injected, kept_of
from grading.judge import checks
from grading.judge.checks import Result, Unseen
from grading.judge.outcome import OURS, Outcome
from grading.judge.plain import as_json
from grading.judge.view import ClusterView
from grading.judge.visible import CellState, Visible
from grading.practice.own_cells import OwnCells
from grading.practice.show import Assessment
from kafkalab.errors import CourseError
from kafkalab.files import write_whole
from kafkalab.notebook import ending, kept
from kafkalab.places import offer_programs

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

SEED = "KAFKALAB_LAB_SEED"
"""Set by the grader in its own first cell: the seed of the student whose notebook runs."""


class Lab:
    """One lab, open in this notebook. Made by `Lab.open`."""

    def __init__(self, lab: definition.Definition, seed_text: str, cluster: Cluster | None) -> None:
        self.name = lab.name
        self._cluster = cluster
        self.p = seed.parameters(lab.make, seed_text)
        self.data: Path = lab.place.student / "data"
        offer_programs(lab.place.student)
        self._definition = lab
        self._seed = seed_text
        self._is_graded = SEED in os.environ
        self._notebook = OwnNotebook()
        self._cells = OwnCells(None if self._is_graded else get_ipython())
        self._told: Counter[int] = Counter()
        self._beside = None
        if lab.faults and not self._is_graded:
            from grading.faults.injection import Beside

            self._beside = Beside(lab, cluster, self.p)
            self._notebook.injected = self._beside.injected

    @classmethod
    def open(cls, name: str, student: str = "") -> Lab:
        """Start the lab's cluster, or join the one that the grader or `./course up` runs.

        Running the cell again begins anew: topics and groups with names of this lab go away.
        """
        lab = definition.load(name)
        seed_text = os.environ.get(SEED) or seed.practice_seed(lab.name, student)
        cluster = None
        if lab.profile != NO_CLUSTER:
            from kafkalab.cluster.cluster import Cluster

            cluster = Cluster.start(lab.profile, settings=lab.settings, gateway=lab.gateway)
            if SEED not in os.environ:
                from grading.run.sweep import sweep

                sweep(cluster, seed.Draw(seed_text).tag)
        return cls(lab, seed_text, cluster)

    @property
    def cluster(self) -> Cluster:
        """The lab's cluster; CourseError in a lab that has none."""
        if self._cluster is None:
            raise CourseError("This lab has no cluster.", "Its lab.toml names no profile.")
        return self._cluster

    def check(self, task: int) -> Assessment | None:
        """Run the public checks of a task against the cluster as it is now.

        Each time that it fails tells one step more of the hint.
        """
        if self._is_graded:
            return None  # the grader looks for itself
        if task not in self._definition.tasks:
            raise CourseError(
                f"This lab has no task {task}.",
                f"Its tasks are {', '.join(map(str, self._definition.tasks))}.",
            )
        found = self._results({task})
        if any(result.outcome not in OURS | {Outcome.PASS} for result in found):
            self._told[task] += task not in self._cells.causes
        return Assessment.of(
            self._definition, found, {task}, self._cells.causes, steps=self._told[task]
        )

    def score(self) -> Assessment | None:
        """Run all public checks and add up the points."""
        if self._is_graded:
            return None
        tasks = set(self._definition.tasks)
        found = Assessment.of(self._definition, self._results(tasks), tasks, self._cells.causes)
        if found.points.reached is not None:
            kept.keep(ending.KIND, "score", reached=found.points.reached, full=found.points.full)
        return found

    def program(self, name: str, tasks: Iterable[int], end: str) -> Path:
        """A Python file in the working folder: the cells of these tasks as last run, then `end`.

        A cell is a task's where its first line says so. CourseError where one was not run yet.
        """
        shell = get_ipython()
        cells = [] if shell is None else shell.user_ns["In"]
        ran = {int(line[1]): cell for cell in cells if (line := TASK_LINE.match(cell))}
        numbers = list(tasks)
        if missing := [number for number in numbers if number not in ran]:
            raise CourseError(
                f"The program lacks task {', '.join(map(str, missing))}.",
                "It is made of the cells as they were last run in this notebook.",
                "Run the cells of its tasks, then this one again.",
            )
        file = Path(name).resolve()
        # One that runs from the former file, or is started now, meets a whole program.
        write_whole(file, "\n\n\n".join([*(ran[number] for number in numbers), end]))
        return file

    def close(self) -> None:
        """Stop the cluster if this notebook started it."""
        self._cells.leave()
        if self._beside is not None:
            self._beside.leave()
        if self._cluster is not None:
            self._cluster.close()

    def __repr__(self) -> str:
        where = f"\n{self._cluster!r}" if self._cluster is not None else ""
        return f"{self._definition.title}: {len(self._definition.tasks)} tasks{where}\n{self.p!r}"

    def _results(self, tasks: set[int]) -> list[Result]:
        view = ClusterView(self._cluster) if self._cluster is not None else None
        x = Visible(self._notebook, view, self.p, self._seed)
        results: dict[str, Result] = {}
        try:
            for check in self._definition.checks:
                if check.task in tasks:
                    spoilt = self._beside and self._beside.without_its_fault(check)
                    results[check.id] = spoilt or checks.run_in_order(check, x, results)
        finally:
            if view is not None:
                view.close()
        return list(results.values())


class OwnNotebook:
    """The notebook in which a learner runs a check."""

    def __init__(self) -> None:
        self.injected: Mapping[int, Injected] = {}

    @property
    def cells(self) -> Mapping[int, CellState]:
        raise Unseen("how a cell ended is seen by ./course check alone")

    def value(self, expression: str) -> Any:
        shell = get_ipython()
        names = shell.user_ns if shell is not None else {}
        try:
            return json.loads(as_json(expression, names))
        except Exception as error:  # whatever the learner's object raises is an answer
            raise no_value(expression, type(error).__name__, str(error)) from None

    def kept(self, task: int) -> dict[str, Any]:
        return kept_of(self.injected, task)


def no_value(expression: str, error: str, message: str) -> Unseen:
    """The notebook holds no such value; says why. How a check asks is nobody's business."""
    if missing := re.fullmatch(r"name '(\w+)' is not defined.*", message, re.DOTALL):
        return Unseen(f"the notebook has no {missing[1]} yet")
    names = ", ".join(dict.fromkeys(names_in(expression))) or expression
    return Unseen(f"the notebook has no usable value of {names}: {error}: {message[:200]}")
