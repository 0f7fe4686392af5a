"""Programs of a page, one after the other, each in a process that can be killed."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kafkalab import members
from kafkalab.errors import CourseError
from kafkalab.members import Event

if TYPE_CHECKING:
    from kafka import TopicPartition

    from kafkalab.cluster.cluster import Cluster

Point = tuple[str, int]
"""A name that the program gives to `danger`, and how many times it comes there: dead the last."""

NOWHERE: Point = ("", 0)

ALARM = 30  # seconds after which a program ends that nobody else ends

# What stands before the lines of a program. At the point at which it is to die it asks first what
# its group has committed: the answer comes after those to all commits that were sent before, so
# that each run ends in the same state.
HEAD = """\
passed = {}
def danger(point):
    passed[point] = passed.get(point, 0) + 1
    dies = (point, passed[point]) == tuple(die)
    if point == "ready" or dies:
        grouped = consumer.config["group_id"] is not None
        note("at", point=point, committed=consumer.committed(place) if grouped else None)
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
def charge(offset):
    note("charged", offset=offset)
    danger("charged")
"""

# A member that runs programs in children of its own, so that what a start costs (the imports) is
# paid once. It has no client itself: those do not live on in a child. A child ends with its alarm
# where nothing else ends it.
PARENT = """\
import traceback
for number, (text, given) in enumerate(errands):
    if not running():
        break
    child = os.fork()
    if child == 0:
        signal.alarm(alarm)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        names = {**globals(), **given}
        names["note"] = lambda what, **facts: note(what, run=number, **facts)
        try:
            exec(compile(text, "<program>", "exec"), names)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    note("over", run=number, status=os.waitpid(child, 0)[1])
"""


@dataclass(frozen=True)
class ProgramRun:
    """One program to be run, where it is to die, and the names that it is given."""

    text: str
    die: Point = NOWHERE
    given: dict[str, Any] = field(default_factory=dict)


def run_all(
    cluster: Cluster,
    name: str,
    runs: Sequence[ProgramRun],
    timeout: float | None = None,
    imports: str = "",
) -> ProgramRuns:
    """Start a member that runs these programs one after the other, each with seconds to spare.

    `imports`: lines that are run once for all of them, for modules that take long.
    """
    timeout = 30 + 4 * len(runs) if timeout is None else timeout
    errands = [(HEAD + run.text, {**run.given, "die": run.die}) for run in runs]
    member = members.start(
        f"{imports}\n{PARENT}",
        name,
        address=cluster.address,
        limit=2 * timeout,
        errands=errands,
        alarm=ALARM,
    )
    return ProgramRuns(member, runs, timeout)


class ProgramRuns:
    """Programs that run one after the other."""

    def __init__(self, member: members.Member, runs: Sequence[ProgramRun], timeout: float) -> None:
        self.member = member
        self._runs = runs
        self._timeout = timeout

    def events(self) -> list[list[Event]]:
        """What each of them noted, when all have ended.

        One that did not die where it was to die, or died elsewhere, is an error.
        """
        try:
            self.member.wait_for_end(self._timeout)
        finally:
            self._end_all()
        found: list[list[Event]] = [[] for _ in self._runs]
        ends = {}
        for event in self.member.events:
            if event.what == "over":
                ends[event.facts["run"]] = event.facts["status"]
            elif "run" in event.facts:
                found[event.facts["run"]].append(event)
        for number, run in enumerate(self._runs):
            killed = number in ends and os.WIFSIGNALED(ends[number])
            ended = number in ends and os.WIFEXITED(ends[number])
            right = killed if run.die != NOWHERE else ended and not os.WEXITSTATUS(ends[number])
            if not right:
                raise CourseError(
                    f"Program {number + 1} of {self.member.name} did not end as it was to end.",
                    f"It was to die at {run.die}." if run.die != NOWHERE else "It was to end.",
                    self.member.said.strip() or "It said nothing.",
                )
        return found

    def _end_all(self) -> None:
        """End the member, and a child of it that it could not wait for: they are one group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.member.pid, signal.SIGKILL)
        self.member.kill()


def end_of(cluster: Cluster, place: TopicPartition) -> int:
    """The offset that the next record of a partition gets."""
    return cluster.topic(place.topic).partitions[place.partition].end_offset
