"""What a check sees as `x`: the cluster, the log, values of the notebook, and nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from grading.define.seed import Parameters
from grading.judge.checks import Unseen
from grading.judge.log import Log
from grading.judge.outcome import Outcome
from grading.judge.shape import Misshapen, shaped
from grading.judge.view import ClusterView
from kafkalab.wait import WaitTimeout, wait_until

T = TypeVar("T")


@dataclass(frozen=True)
class CellState:
    """How a cell of the notebook ended, told by its execute reply and not by its output."""

    state: Outcome
    output: str = ""
    error: str = ""
    seconds: float = 0.0


class Notebook(Protocol):
    """The notebook as a check may see it: a kernel of the grader's, or the learner's own."""

    @property
    def cells(self) -> Mapping[int, CellState]:
        """How the cell of each task ended."""

    def value(self, expression: str) -> Any:
        """The value of an expression, as JSON carries it; Unseen where there is none."""

    def kept(self, task: int) -> dict[str, Any]:
        """What the fault of a task has seen beside its cell; Unseen where it was not there."""


class Visible:
    """The argument of every check; see grading/judge/checks.py for how they are used.

    `patience` is lowered where nothing was done that could still take effect.
    """

    def __init__(
        self,
        notebook: Notebook,
        cluster: ClusterView | None,
        p: Parameters,
        seed: str,
    ) -> None:
        self.p = p
        self.rng = random.Random(f"checks {seed}")
        self._seed = seed
        self._notebook = notebook
        self._cluster = cluster
        self.may_blame = True
        """Whether a broker that is down is taken for the work of a cell."""
        self.patience = 1.0

    def begin(self, check: str) -> None:
        """The next questions are those of this check: what it draws hangs on no other one."""
        self.rng.seed(f"checks {self._seed} {check}")

    @property
    def patience(self) -> float:
        """1 is usual; less shortens every wait."""
        return self._patience

    @patience.setter
    def patience(self, factor: float) -> None:
        self._patience = factor
        if self._cluster is not None:
            self._cluster.patience = factor

    def look_afresh(self) -> None:
        """Forget what was seen: the notebook went on."""
        if self._cluster is not None:
            self._cluster.forget()

    @property
    def seen(self) -> dict[str, Any] | None:
        """What was looked at since then, in short; None where there is no cluster."""
        return None if self._cluster is None else self._cluster.seen

    @property
    def kafka(self) -> ClusterView:
        """The cluster, read only."""
        if self._cluster is None:
            raise Unseen("this lab has no cluster")
        return self._cluster

    @property
    def cells(self) -> Mapping[int, CellState]:
        """How the cell of each task ended: x.cells[2].state. Not where a learner runs one check."""
        return self._notebook.cells

    @property
    def brokers_down(self) -> list[int]:
        """Brokers that do not run. A check looks when the faults of a lab are over."""
        return self._cluster.down() if self._cluster is not None and self.may_blame else []

    def read(
        self,
        topic: str,
        *,
        isolation: str = "read_uncommitted",
        limit: int = 200_000,
        may_be_empty: bool = False,
    ) -> Log:
        """All records that a topic holds now, read by the grader's own consumer.

        An empty topic proves nothing and ends the check, unless it says that it may be empty.
        """
        return self.kafka.read(topic, isolation=isolation, limit=limit, may_be_empty=may_be_empty)

    def value(
        self, expression: str, form: Any = object, *, called: str = "", may_be_empty: bool = False
    ) -> Any:
        """The value of an expression in the notebook, in a form (grading/judge/shape.py).

        Evaluated once in the kernel and judged here, so an object that equals everything is of no
        use to anybody. A name that is not there, another form, or an answer with nothing in it
        ends the check with a sentence. `called`: what the student calls it, where the expression
        is longer than that.
        """
        name = called or expression
        try:
            value = shaped(name, self._notebook.value(expression), form)
        except Misshapen as other:
            raise Unseen(str(other)) from None
        except Unseen as unseen:
            raise Unseen(str(unseen).replace(expression, name)) from None
        if not may_be_empty and value in ([], {}, (), set(), ""):
            raise Unseen(f"{name} is empty")
        return value

    def kept(self, task: int) -> dict[str, Any]:
        """What the fault beside the cell of a task has kept of what it saw (`f.keep`).

        The fault is ours, and what it looked at is not: text from there may say anything.
        """
        return self._notebook.kept(task)

    def soon(self, condition: Callable[[], T], within: float = 5.0) -> T | bool:
        """The first true value of `condition`; False if there was none in time.

        For what a cluster takes a moment to do. What is not there yet counts as not true.
        """
        try:
            return wait_until(
                lambda: condition() or None,
                timeout=within * self.patience,
                what="the state that a check looks for",
                every=0.1,
                not_yet=(Unseen,),
            )
        except WaitTimeout:
            return False

    def steady(self, condition: Callable[[], object], hold: float = 2.0) -> bool:
        """Whether `condition` is true now and stays true for `hold` seconds."""
        try:
            wait_until(lambda: not condition(), timeout=hold, what="a change", every=0.1)
        except WaitTimeout:
            return True
        return False
