"""What the faults of lab 07 see and do, without a cluster."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from grading.define import definition, seed
from grading.faults.breaker import Breaker
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until

LAB = definition.load("lab07_exactly_once")
faults: Any = definition.module(LAB.place, "faults")


class Hand:
    """In place of what a fault breaks with: processes by their names, and what it keeps."""

    def __init__(self, *processes: psutil.Process | None) -> None:
        self.p = SimpleNamespace(batch=9)
        self.kept: dict[str, Any] = {"others": 0, "torn": 0}
        self._processes = list(processes)

    def process(self, name: str) -> psutil.Process | None:
        return self._processes.pop(0)

    def processes(self, name: str) -> list[psutil.Process]:
        return Breaker(None, None, seed.Parameters({}), os.getpid()).processes(name)

    def keep(self, **facts: Any) -> None:
        self.kept |= facts


def scene(hand: Hand) -> Any:
    made = faults.Scene.__new__(faults.Scene)
    made.f = hand
    return made


@pytest.fixture
def started() -> Iterator[Any]:
    running = []

    def start(*words: str) -> psutil.Process:
        command = [sys.executable, "-c", "input()", *words]
        running.append(subprocess.Popen(command, stdin=subprocess.PIPE))
        return psutil.Process(running[-1].pid)

    yield start
    for one in running:
        one.kill()
        one.communicate()


def test_who_comes_after_a_kill_is_not_killed_for_the_one_who_went(started: Any) -> None:
    gone = started()
    youngest = gone.create_time()
    gone.kill()
    gone.wait()
    young = wait_until(
        lambda: one if (one := started()).create_time() > youngest else None,
        timeout=5,
        what="a birth in another hundredth of a second",
    )
    killed: list = []
    here = scene(Hand(gone, young, None))
    assert not here.is_gone("clerk-1", youngest, killed), "one who has just gone: look again"
    assert here.is_gone("clerk-1", youngest, killed)
    assert here.is_gone("clerk-1", youngest, killed)
    assert young.is_running()
    assert not killed
    assert not scene(Hand(young)).is_gone("clerk-1", young.create_time(), killed)
    assert killed == [young]


def test_a_writer_that_is_no_clerk_is_counted_and_one_that_has_ended_is_not(started: Any) -> None:
    clerk, other, ended = started("clerk-1"), started(), started()
    ended.kill()
    ended.wait()
    for pid, number in ((clerk.pid, 0), (ended.pid, 0), (None, 0), (other.pid, 1)):
        assert others_of(pid) == number


def test_a_clerk_is_the_only_one_of_its_name_and_is_to_be_there(started: Any) -> None:
    first, second = started("clerk-1"), started("clerk-2")
    assert others_of(second.pid) == 1, "one clerk is to be there, and this calls itself another"
    assert others_of(second.pid, "clerk-1", "clerk-2") == 0
    third = started("clerk-2")
    for pid, number in ((first.pid, 0), (second.pid, 1), (third.pid, 1)):
        assert others_of(pid, "clerk-1", "clerk-2") == number


def others_of(pid: int | None, *clerks: str) -> int:
    """How many who are no clerks have written, when this process waits to write."""
    here = scene(Hand())
    here.books = SimpleNamespace(waiting=pid)
    here.clerks = [*clerks] or ["clerk-1"]
    here.note_writer()
    return here.f.kept["others"]


@pytest.mark.parametrize(
    ("steps", "commits", "hollow"),
    [
        ([(1, 9), (1, 18), (1, 27)], 3, 0),
        ([(1, 1), (1, 10), (1, 19), (1, 27)], 4, 0),
        ([(1, 9), (1, 9), (1, 18), (1, 18), (1, 27), (1, 27)], 6, 3),
        ([(2, 9), (2, 18), (2, 27)], 6, 0),
        ([(1, row) for row in range(1, 28)], 27, 0),
    ],
)
def test_commits_of_a_burst_are_held_against_its_batches(
    steps: list, commits: int, hollow: int
) -> None:
    """A step: commits since the last look, and the rows of trades that there are then."""
    here = scene(Hand())
    here.ends = [100]
    rows = [0]
    here.books = SimpleNamespace(commits=7, hold=lambda: None, waiting=None)
    here.books.rows = lambda tables: {"trades": [[0, 1, "A", 5]] * rows[0], "prices": [["A", 5]]}
    here.until = lambda condition, what: None
    here.send = lambda: None
    # Of the second what was not there before counts; who had the third is dead.
    chunks = [("new", 90, 99), ("new", 95, 126), ("old", 100, 126)]
    here.former = [(0.0, {"old"})]
    here.fetched = lambda: (
        (
            SimpleNamespace(client_id="clerk-1", connection=connection),
            SimpleNamespace(partition=0, first=a, last=b),
        )
        for connection, a, b in chunks
    )

    def booked(watch: Any) -> None:
        for more, there in steps:
            here.books.commits += more
            rows[0] = there
            watch(here.books.commits)

    here.booked = booked
    here.one_by_one()
    kept = here.f.kept
    assert (kept["commits"], kept["hollow"], kept["most"]) == (commits, hollow, 4)


@pytest.mark.parametrize(
    ("steps", "commits", "hollow"),
    [
        ([(2, 0), (1, 9), (1, 18)], 2, 0),
        ([(1, 9), (1, 9), (1, 18), (1, 18)], 4, 2),
        ([(1, 0), (1, 9), (1, 9), (1, 18)], 3, 1),
        ([(1, -3), (1, 9)], 1, 0),
    ],
)
def test_what_a_start_commits_before_its_first_trade_is_its_own(
    steps: list, commits: int, hollow: int
) -> None:
    rows = [4]
    books = SimpleNamespace(commits=7)
    books.rows = lambda tables: {"trades": [[0, 1, "A", 5]] * rows[0], "prices": [["A", 5]]}
    count = faults.Count(books, is_start=True)
    at = books.commits
    for more, there in steps:
        at, rows[0] = at + more, 4 + there
        count.look(at)
    assert count.found() == {"commits": commits, "hollow": hollow}


@pytest.mark.parametrize(
    ("is_over", "again", "stayed"),
    [(True, (30, 39), 0), (False, (30, 39), 1), (False, (20, 39), 0)],
)
def test_a_refused_batch_is_rolled_back_or_its_records_come_again(
    is_over: bool, again: tuple[int, int], stayed: int
) -> None:
    here = scene(Hand())
    here.f.kept["stayed"] = 0
    tellings = iter([1, 2, 2])
    here.f.gateway = SimpleNamespace(frames=lambda api: [None] * next(tellings))
    brought = [[(0.0, 0, 29)], [(0.0, 0, 29), (float("inf"), *again)]]
    here.fetched = lambda: (
        (SimpleNamespace(requested=at), SimpleNamespace(partition=0, first=first, last=last))
        for at, first, last in brought.pop(0)
    )
    here.books = SimpleNamespace(transaction=lambda: nullcontext(lambda: is_over))

    def until(condition: Any, what: str, every: float, patience: float = 1) -> None:
        if not condition():
            raise faults.NotReached(what)

    here.until = until
    here.given_up()
    assert here.f.kept["stayed"] == stayed


def test_a_price_that_is_not_yet_that_of_the_newest_trade_is_seen() -> None:
    trades = [[0, 0, "A", 5], [0, 1, "A", 6], [1, 0, "B", 7], [0, None, "C", 1]]
    prices = [["A", 6, 0, 1], ["B", 7, 1, 0]]
    assert faults.torn_in({"trades": trades, "prices": prices}) == 0
    assert faults.torn_in({"trades": trades, "prices": [["A", 5, 0, 0]]}) == 2
    assert faults.torn_in({"trades": [], "prices": []}) == 0


def test_what_a_program_says_before_it_ends_begins_with_the_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(LAB.place.student)
    from shop import ends_by_itself

    said = "Traceback\n" + "  a line\n" * 900 + "NameError: name 'book' is not defined\n"
    assert str(ends_by_itself("clerk-1", said)).splitlines()[0].endswith("'book' is not defined")
    assert "says nothing" in str(ends_by_itself("clerk-1", ""))


class Clerk:
    """A process that runs until it is told to end."""

    returncode = 0

    def poll(self) -> None:
        return None

    def terminate(self) -> None:
        pass

    kill = terminate

    def wait(self, timeout: float = 0) -> int:
        return self.returncode


@pytest.mark.process
def test_a_broker_that_does_not_answer_for_a_moment_ends_no_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(LAB.place.student)
    import shop

    there = [SimpleNamespace(records=number, partitions=[0]) for number in (0, 0, 0, 1)]
    answers: list[Any] = [there[0], there[1], there[2], there[3]]
    for place in (3, 2, 1, 0):  # each question is asked in vain once
        answers.insert(place, CourseError("No leader answers for partition 0."))

    def topic(name: str) -> Any:
        said = answers.pop(0)
        if isinstance(said, CourseError):
            raise said
        return said

    p = SimpleNamespace(batch=3, killed="killed", bell="bell")
    lab = SimpleNamespace(p=p, cluster=SimpleNamespace(topic=topic, address="nowhere:1"))
    monkeypatch.setattr(shop, "start", lambda *_, **__: Clerk())
    assert shop.keep_running(lab, len, "killed", "books.sqlite") == [("clerk-1", 0)]
    assert not answers
