"""Points are made anew from evidence: of the same lab the same, of other points other ones."""

import json
from dataclasses import replace

from grading.judge.outcome import Outcome
from grading.keep.rescore import rescore
from grading.keep.store import Store
from tests.grading.keep.test_record import graded, submission


def worth(tiny, times: float):
    """The same lab, each public check worth so many times more."""
    checks = tuple(replace(check, points=check.points * times) for check in tiny.checks)
    more = {
        number: sum(new.points - old.points for old, new in zip(tiny.checks, checks, strict=True)
                    if new.task == number)
        for number in tiny.tasks
    }  # fmt: skip
    tasks = {n: replace(task, points=task.points + more[n]) for n, task in tiny.tasks.items()}
    return replace(tiny, checks=checks, tasks=tasks)


def test_the_same_points_change_nothing(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    graded(store, tiny, [submission("anna"), submission("ben", "x = 2")])
    before = [(folder, folder.read_bytes()) for folder in store.folder.rglob("record.json")]

    done = rescore(tiny, store)

    assert (done.count, done.changed, done.left, done.older) == (2, [], {}, [])
    assert [(folder, folder.read_bytes()) for folder, _ in before] == before


def test_other_points_are_other_marks_and_the_former_ones_come_back(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    graded(store, tiny, [submission("anna")])
    (before,) = store.class_records()

    done = rescore(worth(tiny, 3), store)

    (after,) = store.class_records()
    assert [(one.reached, two.reached) for one, two in done.changed] == [
        (before.reached, after.reached)
    ]
    public = sum(check.points for check in tiny.checks)
    assert after.reached == before.reached + 2 * public
    assert after.full == before.full + 2 * public
    rescore(tiny, store)
    assert store.class_records() == [before]


def test_a_fault_of_ours_gets_no_number(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    graded(store, tiny, [submission("anna")], outcome=Outcome.INFRA)

    rescore(worth(tiny, 3), store)

    assert [record.reached for record in store.class_records()] == [None]


def test_what_a_new_check_never_saw_is_left_as_it_was_and_named(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    graded(store, tiny, [submission("anna")])
    before = store.class_records()
    newer = replace(tiny, checks=(replace(tiny.checks[0], id="a_new_one"), *tiny.checks[1:]))

    done = rescore(newer, store)

    assert done.left == {"anna": "a_new_one never looked at it"}
    assert store.class_records() == before


def test_an_attempt_that_was_run_again_is_scored_under_its_own_name(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    (first,), _ = graded(store, tiny, [submission("anna")])
    graded(store, tiny, [submission("anna")], rerun=True)

    rescore(worth(tiny, 2), store)

    for name in (first.key, f"{first.key}.1"):
        table = json.loads((store.attempt(name) / "record.json").read_text())
        assert table["key"] == first.key
        assert table["full"] == store.class_records()[0].full
