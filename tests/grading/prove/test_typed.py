"""Everything typed in, beside topics of the right names that a tool has filled: no check gives
anything. Quick, and of every check; `./course bench fairness` does the same with real brokers.
"""

from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import pytest

from benchmarks.handins.cheats import FOLDER
from grading.define import definition
from grading.define.place import places
from grading.judge import checks
from grading.judge.checks import Result, Unseen
from grading.judge.outcome import Outcome
from grading.judge.visible import CellState, Visible
from kafkalab.cluster.views import Configs, ConfigValue
from tests.grading.state import Logs, Notebook, parameters, partition, record

RECORDS = 300


class AsTheBrokersSay(Configs):
    """No setting is the topic's own."""

    def __missing__(self, name):
        return ConfigValue("1", "DEFAULT_CONFIG")


class Filled(Logs):
    """A cluster on which nothing was done but to make topics and to put records into them."""

    brokers: ClassVar = [0]

    def topic(self, name):
        return replace(super().topic(name), configs=AsTheBrokersSay())

    def __getattr__(self, name):
        def nothing(*_, **__):
            raise Unseen(f"no {name}")

        return nothing


def names(p):
    said = [one for one in p.values() if isinstance(one, str)]
    said += [one for some in p.values() if isinstance(some, dict) for one in some.values()]
    return [one for one in said if isinstance(one, str)]


def typed(lab, p):
    """The names that the cheat leaves in its notebook, where it runs without a cluster."""
    text = (FOLDER / f"lab{lab.place.number}" / "typed_results.py").read_text("utf-8")
    mine = {"lab": SimpleNamespace(p=p, data=lab.place.student / "data"), "session_ms": 8_000}
    mine |= {"idle_seconds": 2, "print": lambda *_: None}
    exec(text, mine)
    return mine


@pytest.mark.parametrize("name", [place.name for place in places()])
def test_no_check_gives_anything_for_it(name):
    lab, p = definition.load(name), parameters(name)
    topics = names(p)
    view = Filled(
        {topic: [record(0, n, b"%d" % (7 * n)) for n in range(RECORDS)] for topic in topics},
        {topic: [partition(0, [0])] for topic in topics},
    )
    cells = {task: CellState(Outcome.RAN, "150 setosa") for task in lab.tasks}
    x = Visible(Notebook(typed(lab, p), cells), view, p, "seed")
    found: dict[str, Result] = {}
    for check in (*lab.checks, *lab.hidden_checks()):
        found[check.id] = checks.run_in_order(check, x, found)
    assert [one for one in found.values() if checks.share(one)[0]] == []
    broken = [one for one in found.values() if one.outcome not in {Outcome.FAIL, Outcome.NEEDS}]
    assert broken == []
