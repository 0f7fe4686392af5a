"""How to write a check.

    from grading.judge.checks import check, equal

    @check(2, points=3, title="Three partitions, three copies")
    def topic_has_its_shape(x):
        topic = x.kafka.topic(x.p.topic)
        yield equal("partitions", len(topic.partitions), x.p.partitions)
        yield equal("copies", len(topic.partitions[0].replicas), 3)

    @check(3, points=4, title="Every class has its own partition", needs="topic_has_its_shape")
    def classes_are_apart(x):
        log = x.read(x.p.topic)
        yield len(log) == 150, f"the topic holds {len(log)} records, not 150"
        for partition, records in log.partitions.items():
            classes = {record.json()["class"] for record in records}
            yield len(classes) == 1, f"partition {partition} holds {len(classes)} classes"

A check looks at what the cluster holds and says what it saw. It is a generator; each `yield` is
one finding, `(condition, message)` or a matcher (`equal`, `close`, `at_least`, `same`, `expect`),
and all findings have equal shares of the points. The message is shown when the condition is false:
say what was seen and what was expected, in Kafka's words. A check that yields nothing is a fault
of the check: points need positive evidence. `yield expect(..., must=True)` ends the check with
nothing where the rest would be meaningless.

Through `x` alone a check sees anything (grading/judge/visible.py):
    x.kafka     the cluster, read only: topics(), topic(name), group(name), quorum(), batches(), …
    x.read      x.read(topic) reads the log with a consumer of the grader's own
    x.value     x.value("counts", dict[str, int]) a value of the notebook, in the form that is asked
    x.kept      x.kept(3)["pids"]: what the fault of task 3 has seen on its way (`f.keep`)
    x.cells     x.cells[2].state, .output: how the cell of task 2 ended and what it printed
    x.p, x.rng  the parameters of this student; a random generator that repeats itself
    x.soon      x.soon(lambda: …) the first true value within some seconds, else the last one
    x.steady    x.steady(lambda: …, hold=2) whether it stays true that long

What is not there (a topic, a group, a name in the notebook), a value of another form, an empty
topic and an empty answer end the check with a message that says so; a check need not guard against
them. Where nothing is a right answer, `may_be_empty=True` says that. What stands in a record may be
anything: `record.number()`, `record.header(name)` and `record.json()` cope with that; its timestamp
too, unless `record.is_dated_by_broker`. A check never writes to the cluster and never sleeps.

Points are for what was done. So a check of a typed-in answer compares it with what the cluster
holds, and a choice counts only beside a value that the student's own run has measured. A finding
that is met earns its share, also with `must=True`; what alone proves nothing is no finding, and
where it is lacking the check ends with `raise Unseen("what was seen")`. A test feeds every check
with typed answers beside topics that a tool has filled (tests/grading/prove/test_typed.py): the
answers stand in benchmarks/handins/cheating, and a new lab adds its own.

`./course verify` asks each check again with odd values in the place of what the reference left
(grading/prove/hostile.py): it must say a sentence to all of them, and break at none.

Public checks stand in `checks.py`, which learners run and can read, so a typed answer is compared
with its seal there (grading/judge/sealed.py); hidden ones in `hidden.py`, which the notebook never
imports. The name of the function is the id of the check.

When it runs: `at="after"` (usual) at the check cell of its task, so that later cells cannot spoil
it; `at="end"` after the last cell.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grading.judge.outcome import Outcome
from kafkalab.errors import CourseError

if TYPE_CHECKING:
    from grading.judge.visible import Visible

LONGEST_MESSAGE = 600


class Unseen(Exception):
    """What a check asked for is not there. Ends the check; the text is shown to the student."""


@dataclass(frozen=True)
class Finding:
    """One thing that a check looked at."""

    ok: bool
    message: str
    must: bool = False


@dataclass(frozen=True)
class Check:
    """A question to the cluster, worth points."""

    id: str
    task: int
    points: float
    title: str
    at: str
    needs: str | None
    function: Callable[[Visible], Iterator[Finding | tuple[Any, str]]]


@dataclass(frozen=True)
class Result:
    """What came out of one check: evidence. grading/judge/score.py makes points of it later."""

    check: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    detail: str = ""
    seconds: float = 0.0

    @property
    def messages(self) -> list[str]:
        """What was not as expected."""
        return [finding.message for finding in self.findings if not finding.ok]


def check(
    task: int, *, points: float, title: str, at: str = "after", needs: str | None = None
) -> Callable[[Callable[[Visible], Iterator]], Check]:
    """Make a generator function a check of a task. `needs`: the id of one that must not fail."""
    if points <= 0 or at not in {"after", "end"}:
        raise ValueError(f"check of task {task}: points={points}, at={at!r}")

    def made(function: Callable[[Visible], Iterator]) -> Check:
        return Check(function.__name__, task, points, title, at, needs, function)

    return made


def expect(condition: object, message: str, *, must: bool = False) -> Finding:
    """A finding. `must`: where it is false the check ends and gives nothing."""
    return Finding(bool(condition), message[:LONGEST_MESSAGE], must)


def equal(what: str, seen: object, expected: object, *, must: bool = False) -> Finding:
    """Seen is what was expected."""
    return expect(seen == expected, f"{what}: expected {expected!r}, saw {seen!r}", must=must)


def close(what: str, seen: float, expected: float, *, within: float) -> Finding:
    """Two numbers that differ by at most `within`; anything that is no number fails."""
    is_number = isinstance(seen, int | float) and not isinstance(seen, bool)
    near = is_number and abs(seen - expected) <= within
    return expect(near, f"{what}: expected {expected:g} (± {within:g}), saw {seen!r}")


def at_least(what: str, seen: float, least: float) -> Finding:
    """A number that may be larger."""
    is_number = isinstance(seen, int | float) and not isinstance(seen, bool)
    return expect(is_number and seen >= least, f"{what}: expected {least:g} or more, saw {seen!r}")


def same(what: str, seen: Iterable, expected: Iterable) -> Finding:
    """The same things in any order, each as often; names what is missing and what is too much."""
    missing, extra = list(expected), []
    for thing in seen:
        if thing in missing:
            missing.remove(thing)
        else:
            extra.append(thing)
    parts = [f"missing {_some(missing)}"] if missing else []
    parts += [f"not expected {_some(extra)}"] if extra else []
    return expect(not parts, f"{what}: {'; '.join(parts)}")


def run(check: Check, x: Visible) -> Result:
    """Run one check. Never raises: a check that breaks is an outcome too."""
    started = time.monotonic()
    findings: list[Finding] = []
    outcome, detail = None, ""
    try:
        for found in check.function(x):
            findings.append(found if isinstance(found, Finding) else expect(*found))
            if findings[-1].must and not findings[-1].ok:
                break
    except Unseen as nothing:
        findings.append(expect(False, str(nothing), must=True))
    except Exception as error:  # a fault of ours, whatever it is: recorded, shown to the teacher
        outcome = Outcome.INFRA if _is_about_the_cluster(error) else Outcome.CHECK_ERROR
        detail = "".join(traceback.format_exception(error))
        if outcome is Outcome.INFRA and (down := x.brokers_down):
            outcome = None
            findings.append(expect(False, _without(down), must=True))
    if outcome is None:
        outcome, detail = _outcome(findings)
    return Result(check.id, outcome, tuple(findings), detail, round(time.monotonic() - started, 3))


def run_in_order(check: Check, x: Visible, earlier: Mapping[str, Result]) -> Result:
    """Run a check unless the one that it needs gave nothing; that one must be in `earlier`."""
    needed = earlier.get(check.needs) if check.needs else None
    if needed is not None and needed.outcome not in {Outcome.PASS, Outcome.PART}:
        return Result(check.id, Outcome.NEEDS, detail=needed.check)
    x.begin(check.id)
    return run(check, x)


def share(result: Result) -> tuple[int, int]:
    """Good findings and all findings; nothing of it counts where a `must` was not met."""
    if any(finding.must and not finding.ok for finding in result.findings):
        return 0, len(result.findings)
    return sum(finding.ok for finding in result.findings), len(result.findings)


def _outcome(findings: Collection[Finding]) -> tuple[Outcome, str]:
    if not findings:
        return Outcome.CHECK_ERROR, "the check yielded nothing"
    if all(finding.ok for finding in findings):
        return Outcome.PASS, ""
    if any(finding.must and not finding.ok for finding in findings):
        return Outcome.FAIL, ""
    return (Outcome.PART if any(finding.ok for finding in findings) else Outcome.FAIL), ""


def _without(brokers: list[int]) -> str:
    some = ", ".join(map(str, brokers))
    which = f"broker {some} does" if len(brokers) == 1 else f"brokers {some} do"
    return (
        f"{which} not run: a cell has stopped, killed or frozen it, and this check needs it. "
        "`lab.cluster.mend()` brings it back"
    )


def _is_about_the_cluster(error: Exception) -> bool:
    # by name of the module: this module is imported where there is no Kafka client
    return isinstance(error, CourseError | OSError) or type(error).__module__.startswith("kafka.")


def _some(things: list) -> str:
    shown = ", ".join(repr(thing) for thing in things[:5])
    return shown + (f" and {len(things) - 5} more" if len(things) > 5 else "")
