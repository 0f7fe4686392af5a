"""How to write a fault that hits the student's cell while it runs: `faults.py` of a lab.

    from grading.faults.fault import fault

    @fault(task=3)
    def leader_dies_first(f):
        leader = f.kafka.topic(f.p.topic).partitions[0].leader
        f.pause(*(broker for broker in f.kafka.brokers if broker != leader))
        yield                                   # the student's cell runs from here on
        f.until(lambda: f.log_end(f.p.topic, 0) >= f.p.after, f"{f.p.after} records in the log")
        f.kill(leader)

What stands before the `yield` is done before the cell begins; the rest runs beside it. `f.until`
waits for what the cell makes the cluster show, never for a time. If the cell is over first, the
fault was not reached: every check of the task then fails and says what was never seen. So a
fault must be such that no cell can outrun it: set it up before the `yield`, or slow the network
down with `f.gateway.delay`. After the cell everything is mended: nodes run again, the network is
whole. An error of the fault itself is ours: the checks of the task give no number. But where a
broker is down that the fault has not taken down, a cell has done it, and that is told.

What it sees on its way it may keep with `f.keep(name=…)`, for checks that say `x.kept(task)`.

Brokers, counts and kinds come from `f.p`, so they differ from student to student. The same file is
used in the learner's notebook and in grading (grading/faults/injection.py).
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from grading.faults.breaker import Breaker, NotReached
from grading.judge.checks import Unseen

LAST_STEPS = 60.0  # seconds for a fault to come to its end when the cell is over


@dataclass(frozen=True)
class Fault:
    """What breaks while the cell of a task runs."""

    id: str
    task: int
    function: Callable[[Breaker], Iterator[None]]


@dataclass(frozen=True)
class Injected:
    """What became of a fault: evidence."""

    fault: str
    task: int
    steps: tuple[tuple[float, str], ...] = ()
    """Seconds since the cell began, and what was done then."""
    missed: str = ""
    """Why the fault was not reached, in a sentence for the student; empty where it was."""
    error: str = ""
    """A fault of ours: the traceback."""
    down: tuple[int, ...] = ()
    """Brokers that did not run when the error came, though no fault had taken them down."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What the fault has seen on the way, for the checks of its task."""

    @property
    def is_reached(self) -> bool:
        return not self.missed and not self.error


def kept_of(injected: Mapping[int, Injected], task: int) -> dict[str, Any]:
    """What the fault of a task has kept; Unseen where it has not come to its end."""
    found = injected.get(task)
    if found is None or not found.is_reached:
        raise Unseen(f"nobody has seen yet what the cell of task {task} does: run it")
    return found.kept


def fault(task: int) -> Callable[[Callable[[Breaker], Iterator[None]]], Fault]:
    """Make a generator function the fault of a task."""

    def made(function: Callable[[Breaker], Iterator[None]]) -> Fault:
        return Fault(function.__name__, task, function)

    return made


class Injection:
    """A fault beside one run of a cell: `begin` before it, `end` after it."""

    def __init__(self, fault: Fault, breaker: Breaker) -> None:
        self.fault = fault
        self.breaker = breaker
        self._missed = ""
        self._error = ""
        self._down: tuple[int, ...] = ()
        self._script = fault.function(breaker)
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Set the fault up; what is to happen beside the cell waits in a thread from here on."""
        self._guarded(lambda: next(self._script))
        if not self._missed and not self._error:
            self.breaker.began = time.monotonic()
            self._thread = threading.Thread(target=self._guarded, args=(self._rest,), daemon=True)
            self._thread.start()

    def end(self) -> Injected:
        """The cell is over. Returns when everything is mended."""
        self.breaker.is_over.set()
        if self._thread is not None:
            self._thread.join(LAST_STEPS)
            if self._thread.is_alive():
                self._error = f"the fault was not done {LAST_STEPS:g} s after the cell"
        self._guarded(self.breaker.mend)
        steps = tuple(self.breaker.steps)
        found = self.fault.id, self.fault.task, steps
        kept = dict(self.breaker.kept)
        return Injected(*found, self._missed, self._error, self._down, kept)

    def _rest(self) -> None:
        with suppress(StopIteration):
            next(self._script)
            raise ValueError(f"{self.fault.id} yields more than once")

    def _guarded(self, do: Callable[[], object]) -> None:
        try:
            do()
        except NotReached as what:
            self._missed = f"while your cell ran, this was never seen: {what}"
        except Unseen as why:
            self._missed = str(why)
        except Exception:  # whatever it is, it is no answer of the student's
            self._error = traceback.format_exc()
            self._down = tuple(self.breaker.down())
