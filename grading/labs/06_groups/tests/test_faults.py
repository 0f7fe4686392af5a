"""The faults of lab 06 beside members that have no luck."""

import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from grading.faults.breaker import NotReached
from kafkalab.cluster.views import GroupView, MemberView
from kafkalab.wait import WaitTimeout
from tests.grading.state import loaded, parameters

FAULTS = loaded("lab06").faults
P = parameters("lab06")
FIRST, SECOND = P.killed


class Scene:
    """Stands for a breaker: the cell is over, and the group misses only whom it says."""

    def __init__(self, missed, packed, in_hand=0):
        self.p, self.cluster, self.kafka = P, self, self
        self.in_hand = in_hand
        self.missed, self.packed = missed, packed
        self.killed: list[str] = []
        self.kept: dict = {}
        self.is_over = threading.Event()
        self.is_over.wait = lambda timeout: False

    def group(self, name):
        gone = [one for one in self.killed if one in self.missed]
        topic = P.day_3["topic"]
        held = {one: {topic: [2 * n, 2 * n + 1]} for n, one in enumerate(P.crew)}
        there = [MemberView(one, one, None, held[one]) for one in P.crew if one not in gone]
        committed = {(topic, partition): 5 for partition in range(6)}
        return GroupView(name, "STABLE", "classic", "", 0, there, committed, {})

    def stored(self, topic):
        assert topic == P.day_3["results"]
        return self.packed

    def forget(self):
        pass

    def read(self, topic, limit):
        assert topic == P.day_3["results"]
        by = f"{P.day_3['group']} {FIRST}"
        return [SimpleNamespace(key_text=lambda: by)] * (10 + self.in_hand)

    def until(self, condition, what, afterwards=False):
        if not condition():
            raise NotReached(what)

    def kill_process(self, name):
        self.killed.append(name)
        return 1_000 * len(self.killed)

    def keep(self, **facts):
        self.kept |= facts

    @contextmanager
    def nobody_but(self, *words):
        yield lambda: True

    def wait(self, condition, what, timeout):
        if not condition():
            raise WaitTimeout(what)


def test_who_dies_with_nothing_left_to_pack_need_not_be_missed():
    scene = Scene([FIRST], packed=P.rush)
    assert list(FAULTS[3].function(scene)) == [None]
    killed = {FIRST: 1_000, SECOND: 2_000}
    assert scene.kept == {"packed": P.rush, "killed": killed, "alone": []}


@pytest.mark.parametrize(
    ("missed", "packed", "who"), [([], P.rush, FIRST), ([FIRST], P.rush - 1, SECOND)]
)
def test_who_dies_with_orders_in_hand_must_be_missed(missed, packed, who):
    with pytest.raises(NotReached, match=f"{who} to be missed"):
        list(FAULTS[3].function(Scene(missed, packed)))


def test_who_commits_seldom_dies_at_once_and_others_a_little_later():
    allowed = len(P.killed) * P.repeated
    seldom = Scene([FIRST, SECOND], P.killed_at, in_hand=allowed + 1)
    assert list(FAULTS[3].function(seldom)) == [None]
    assert seldom.killed == [FIRST, SECOND]
    with pytest.raises(NotReached, match="orders packed"):
        list(FAULTS[3].function(Scene([FIRST, SECOND], P.killed_at, in_hand=allowed)))


class Packing(Scene):
    """Each time that somebody looks, those who run have packed one more."""

    def __init__(self, alone, notebook, stands=True):
        super().__init__([], 0)
        self.alone, self.notebook, self.stands = alone, notebook, stands
        self.results: list[str] = []
        self.stand_still: list[tuple] = []
        self.frozen = False

    def stored(self, topic):
        self.pack(P.killed_at // 6)
        return len(self.results)

    def read(self, topic, limit):
        self.pack(1)
        group = P.day_3["group"]
        return [SimpleNamespace(key_text=lambda one=one: f"{group} {one}") for one in self.results]

    def pack(self, each):
        self.results += each * (self.alone + ([] if self.frozen else self.notebook))

    @contextmanager
    def nobody_but(self, *words):
        self.stand_still.append(words)
        self.frozen = True
        yield lambda: self.stands
        self.frozen = False

    def wait(self, condition, what, timeout):
        if not any(condition() for _ in range(5)):
            raise WaitTimeout(what)


def watched(scene):
    watch = FAULTS[3].function.__globals__["watch"]
    watch(scene, P.day_3, P.crew, P.killed, P.killed_at)
    assert {*scene.stand_still} == {tuple(P.crew)}
    return scene.kept["alone"]


def test_who_packs_while_nothing_but_the_members_runs_is_seen():
    scene = Packing([*P.crew], [])
    assert watched(scene) == sorted(P.killed)
    assert len(scene.stand_still) == 1, "nobody stands still for longer than it takes"
    assert watched(Packing([FIRST], [SECOND])) == [FIRST]
    assert watched(Packing([], [*P.crew])) == []
    assert watched(Packing([*P.crew], [], stands=False)) == [], "somebody else ran, too"


@pytest.mark.parametrize("_", range(20))
def test_no_offset_of_the_clerks_is_as_the_cell_has_seen_it(_):
    elsewhere = FAULTS[4].function.__globals__["elsewhere"]
    known, bounds = {1: 7, 2: 3, 3: 10, 5: 0}, {1: (4, 10), 2: (0, 10), 3: (0, 10), 5: (0, 0)}
    moved = elsewhere(known, bounds)
    assert moved.keys() == {1, 2, 3}
    assert all(bounds[n][0] <= at <= bounds[n][1] and at != known[n] for n, at in moved.items())
