"""A state that a check can look at, made by hand: logs and values, no cluster."""

import json
from dataclasses import dataclass, field
from functools import cache

from hypothesis import settings

from grading.define import definition, master, seed
from grading.define.definition import Definition
from grading.judge import checks
from grading.judge.checks import Check, Result, Unseen
from grading.judge.log import Log, Record
from grading.judge.outcome import Outcome
from grading.judge.plain import as_json
from grading.judge.visible import CellState, Visible
from grading.judge.witness import Witnessed
from grading.prove.hostile import weaknesses
from grading.prove.wrong import WrongAnswer, wrong_answers
from kafkalab.cluster.views import Configs, PartitionView, TopicView


@dataclass
class Notebook:
    values: dict = field(default_factory=dict)
    cells: dict[int, CellState] = field(default_factory=dict)
    seen: dict[int, dict] = field(default_factory=dict)

    def kept(self, task: int) -> dict:
        if task not in self.seen:
            raise Unseen(f"nobody has seen task {task}")
        return self.seen[task]

    def value(self, expression: str):
        try:
            return json.loads(as_json(expression, self.values))
        except Exception as error:  # whatever an answer raises is an answer
            raise Unseen(f"{type(error).__name__}: {error}") from None


@dataclass
class Logs:
    """Stands for the view of a cluster where a check reads nothing but logs."""

    logs: dict[str, list[Record]]
    topics: dict[str, list[PartitionView]] = field(default_factory=dict)

    def topic(self, name: str) -> TopicView:
        if name not in self.topics:
            raise Unseen(f"there is no topic {name}")
        return TopicView(name, "", self.topics[name], Configs())

    def read(self, topic: str, may_be_empty: bool = False, **_) -> Log:
        if topic not in self.logs:
            raise Unseen(f"there is no topic {topic}")
        if not self.logs[topic] and not may_be_empty:
            raise Unseen(f"the topic {topic} is empty")
        return Log(self.logs[topic])


# Of the odd answers, as of the random examples, `./course test --quick` tries a part. No multiple
# of 2, as logs come in pairs: all records are odd, or the first alone.
QUICK, EVERY = "quick", 3


def weaknesses_of(check: Check, x: Witnessed, p: seed.Parameters) -> list[str]:
    """Where a check breaks or falls silent, which is right about what `x` shows."""
    x.begin(check.id)
    found = checks.run(check, x)
    assert found.outcome is Outcome.PASS, found
    every = EVERY if settings.get_current_profile_name() == QUICK else 1
    return list(weaknesses([check], x.transcript, p, "seed", every))


def record(partition: int, offset: int, value: bytes | None, key=None, headers=()) -> Record:
    return Record(partition, offset, 0, key, value, headers)


@cache
def loaded(lab: str) -> Definition:
    """The definition of a lab of the course. No test changes one of these."""
    return definition.load(lab)


@cache
def all_checks(lab: str) -> dict[str, Check]:
    """Id -> check, of the public and of the hidden ones."""
    return {check.id: check for check in (*loaded(lab).checks, *loaded(lab).hidden_checks())}


@cache
def parameters(lab: str) -> seed.Parameters:
    found = loaded(lab)
    return seed.parameters(found.make, seed.practice_seed(found.name))


def wrong_answer(lab: str, name: str) -> WrongAnswer:
    """The wrong answer of this name."""
    found = loaded(lab)
    return next(one for one in wrong_answers(found, master.solved(found)) if one.name == name)


def partition(number: int, replicas: list[int], leader_epoch: int = 0) -> PartitionView:
    """A partition whose replicas are in sync, and which the first of them leads."""
    return PartitionView(
        number, replicas[0], leader_epoch, replicas, sorted(replicas), [], [], 0, 0
    )


def result(lab: str, check: str, logs=None, values=None, topics=None, seen=None) -> Result:
    """What the check of this name makes of the state; logs: a table of them, or `Logs`.

    seen: what the fault of a task has kept.
    """
    view = logs if isinstance(logs, Logs) else Logs(logs or {}, topics or {})
    x = Visible(Notebook(values or {}, seen=seen or {}), view, parameters(lab), "seed")
    x.begin(check)
    return checks.run(all_checks(lab)[check], x)
