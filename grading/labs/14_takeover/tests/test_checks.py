"""The checks of lab 14 against answers that are nearly right."""

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import pytest

from grading.define import definition
from grading.judge.outcome import Outcome
from kafkalab.wait import WaitTimeout
from tests.grading.offsets_topic import members
from tests.grading.state import Logs, parameters, record, result

LAB = "lab14"
P = parameters(LAB)
A, B, C = sorted(P.members)
THREE = {A: [0, 1, 2, 3, 4], B: [5, 6, 7, 8], C: [9, 10, 11, 12]}
TWO = {A: [0, 1, 2, 3, 4, 5, 6], C: [7, 8, 9, 10, 11, 12]}
ONE = {C: list(range(13))}
BEGIN = {A: list(range(13))}


def deal(group, shares, session=P.session_ms, number=0):
    """A record of Kafka's own topic, as a coordinator writes it."""
    dealt = [(f"{name}-4711", name, None, held) for name, held in shares.items()]
    key, value, _ = members(group, 1, P.topic, *dealt, session_ms=session)
    return record(0, number, value, key)


def log_of_groups(*tables, **changes):
    return [deal(P.group, shares, **changes) for shares in tables]


class AndSaid(dict):
    """Logs of topics, by their name, and of a broker, by a call."""

    said = ()

    def __call__(self, broker):
        return self.said


@dataclass
class Cluster(Logs):
    """With a group that has committed."""

    committed: int = 13
    brokers: ClassVar = [0, 1, 2]

    fetched_by: str = P.latecomer
    unfetched: tuple = ()

    def fetched(self, topic):
        there = {(one.partition, one.offset) for one in self.logs[topic]}
        return {self.fetched_by: there - {*self.unfetched}}

    def group(self, name):
        return SimpleNamespace(offsets={(P.topic, n): self.committed for n in range(13)})


STAGES = {"new": THREE, "leave": TWO, "crash": ONE}
WAIT = {"leave": 250, "crash": 5_250}


def sent():
    rows = [record(n % 13, n, b"old %d" % n) for n in range(P.old)]
    rows += [record(n, n, b"%s %d ab" % (stage.encode(), n)) for stage in STAGES for n in range(13)]
    return [replace(one, timestamp=1_000, is_dated_by_broker=True) for one in rows]


def told():
    rows = []
    for one in sent():
        stage = one.text().split()[0]
        for name, held in STAGES.get(stage, {}).items():
            if one.partition in held:
                later = one.timestamp + WAIT.get(stage, 10) - (one.partition % 7)
                rows.append(replace(one, partition=0, key=name.encode(), timestamp=later))
        if stage in ("old", "new"):
            rows.append(replace(one, partition=0, key=P.latecomer.encode()))
    return rows


VALUES = {
    "shares": THREE,
    "two": {name: held[::-1] for name, held in TWO.items()},
    "last": ONE,
    "heard": {name: [f"new {n} ab" for n in held] for name, held in THREE.items()},
    "from_start": P.old + 13,
    "counted": {
        "old": {P.latecomer: P.old},
        "new": {name: len(held) for name, held in THREE.items()} | {P.latecomer: 13},
        "leave": {A: 7, B: 0, C: 6},
        "crash": {C: 13},
    },
    "waits": {stage: ms / 1000 for stage, ms in WAIT.items()},
}
GOOD_BYE = f"Preparing to rebalance group {P.group} in state (reason: explicit `LeaveGroup` request"
CHECKS = (
    *("three_share_thirteen", "shares_are_told", "session_is_as_ordered"),
    *("new_ones_are_read_once", "heard_is_what_was_read", "old_ones_are_skipped"),
    *("others_have_all", "from_start_is_told", "two_have_all", "survivors_read_on"),
    *("said_good_bye", "last_has_all", "last_reads_on", "counted_by_stage"),
    "waits_are_in_the_logs",
)


KEPT = {2: {"alone": 13}, 4: {"alone": 1}, 5: {"alone": 2}}


def judged(check, *, groups=None, topic=None, seen=None, values=None, said=None, kept=None, **more):
    """What a check makes of the state of somebody who did it all, or of another one."""
    logs = AndSaid(
        {
            "__consumer_offsets": [
                *(groups if groups is not None else log_of_groups(BEGIN, THREE, TWO, ONE)),
                deal(P.other_group, {P.latecomer: list(range(13))}),
            ],
            P.topic: sent() if topic is None else topic,
            P.seen_topic: told() if seen is None else seen,
        }
    )
    logs.said = [f"{GOOD_BYE} for ({B}-4711) members.)"] if said is None else said
    cluster = Cluster(logs, **more)
    values = VALUES if values is None else VALUES | values
    return result(LAB, check, cluster, values, seen=KEPT if kept is None else kept)


@pytest.mark.parametrize("check", CHECKS)
def test_who_did_it_all_has_all(check):
    assert judged(check).outcome is Outcome.PASS, judged(check)


@pytest.mark.parametrize("check", [one for one in CHECKS if one != "from_start_is_told"])
def test_typed_answers_give_nothing_without_members(check):
    """The number of task 3 needs the check in front of it."""
    nobody = judged(check, groups=[], seen=[record(0, 0, b"hello")])
    assert nobody.outcome is Outcome.FAIL
    assert all(nobody.messages)
    alone = judged(check, groups=log_of_groups(BEGIN), seen=[record(0, 0, b"hello")], said=[])
    assert alone.outcome is Outcome.FAIL or check == "session_is_as_ordered"


def test_the_last_team_counts_where_somebody_tried_again():
    again = log_of_groups(BEGIN, {A: [0], B: [1], C: [2]}, TWO, BEGIN, THREE, TWO, ONE)
    for check in CHECKS:
        assert judged(check, groups=again).outcome is Outcome.PASS, check


def test_a_group_that_was_asked_between_two_joins_is_not_taken_for_the_team():
    found = judged("three_share_thirteen", groups=log_of_groups(BEGIN, TWO))
    assert found.outcome is Outcome.FAIL
    assert "at most 2 members" in found.messages[0]


def without(rows, stage, name=""):
    return [one for one in rows if not one.text().startswith(f"{stage} {name}")]


@pytest.mark.parametrize(
    ("check", "changes"),
    [
        ("three_share_thirteen", {"groups": log_of_groups({**THREE, C: [9, 10, 11]})}),
        ("three_share_thirteen", {"groups": log_of_groups({A: [*range(11)], B: [11], C: [12]})}),
        ("shares_are_told", {"values": {"shares": TWO}}),
        ("shares_are_told", {"values": {"shares": THREE | {"zoe": []}}}),
        ("session_is_as_ordered", {"groups": log_of_groups(THREE, session=10_000)}),
        ("new_ones_are_read_once", {"seen": without(told(), "new", "3 ")}),
        ("new_ones_are_read_once", {"seen": told() + told()}),
        ("heard_is_what_was_read", {"values": {"heard": {A: VALUES["heard"][A]}}}),
        ("others_have_all", {"seen": without(told(), "old", "3")}),
        ("others_have_all", {"committed": 0}),
        ("others_have_all", {"fetched_by": "grading"}),
        ("others_have_all", {"unfetched": ((3, 3),)}),
        ("from_start_is_told", {"values": {"from_start": 13}}),
        ("two_have_all", {"values": {"two": {A: THREE[A], C: THREE[C]}}}),
        ("survivors_read_on", {"seen": without(told(), "leave", "5 ")}),
        ("said_good_bye", {"said": [f"{GOOD_BYE} for ({A}-4711) members.)"]}),
        ("said_good_bye", {"said": [f"Member {B}-4711 in group {P.group} has failed, removing"]}),
        ("last_has_all", {"values": {"last": TWO}}),
        ("last_has_all", {"groups": log_of_groups(THREE)}),
        ("last_has_all", {"groups": log_of_groups(THREE, {C: [1, 2]})}),
        ("last_reads_on", {"seen": without(told(), "crash")}),
        ("counted_by_stage", {"values": {"counted": {"new": VALUES["counted"]["new"]}}}),
        ("waits_are_in_the_logs", {"values": {"waits": {"leave": 0.25, "crash": 5_250.0}}}),
    ],
)
def test_what_is_nearly_right_is_not_right(check, changes):
    found = judged(check, **changes)
    assert found.outcome in (Outcome.FAIL, Outcome.PART)
    assert all(found.messages)


@pytest.mark.parametrize("check", ["last_reads_on", "waits_are_in_the_logs"])
def test_who_tells_of_a_record_before_its_partition_was_theirs_has_not_taken_over(check):
    """As a notebook does that tells in the name of a member as soon as another one was killed."""
    for at, outcome in [(6_000, Outcome.PASS), (6_248, Outcome.FAIL)]:
        last = replace(deal(P.group, ONE), timestamp=at)
        found = judged(check, groups=[*log_of_groups(ONE, THREE, TWO), last])
        assert found.outcome is outcome, found


TOLD_OF = {
    2: ("new_ones_are_read_once", "heard_is_what_was_read", "old_ones_are_skipped"),
    4: ("survivors_read_on", "waits_are_in_the_logs"),
    5: ("last_reads_on", "counted_by_stage", "waits_are_in_the_logs"),
}
"""Task -> the checks that need somebody to be seen who tells of its stage."""
BY_MEMBERS = [(task, check) for task, checks in TOLD_OF.items() for check in checks]


@pytest.mark.parametrize(("task", "check"), BY_MEMBERS)
def test_what_others_told_in_place_of_the_members_is_nothing(task, check):
    """Of each stage for itself: that of another one does not stand in for it."""
    found = judged(check, kept=KEPT | {task: {"alone": 0}})
    assert found.outcome is Outcome.FAIL
    assert found.messages[0].startswith("nobody has seen")


def test_what_is_counted_was_told_by_members_in_each_stage():
    for task in (2, 4, 5):
        found = judged("counted_by_stage", kept=KEPT | {task: {"alone": 0}})
        assert found.outcome is Outcome.FAIL, task


def counted_with(*groups, **changed):
    """What is said of the counts where tellings of some values bear another name or date."""
    seen = [replace(one, **changed.get(one.text().split()[0], {})) for one in told()]
    there = {}
    for one in seen:
        of_stage = there.setdefault(one.text().split()[0], {})
        of_stage[one.key_text()] = of_stage.get(one.key_text(), 0) + 1
    return judged("counted_by_stage", groups=list(groups), seen=seen, values={"counted": there})


def test_what_somebody_told_in_the_name_of_a_member_is_not_counted():
    dated = [
        replace(one, timestamp=at)
        for at, one in zip(
            (0, 500, 1_200, 6_000), log_of_groups(BEGIN, THREE, TWO, ONE), strict=True
        )
    ]
    assert counted_with(*dated).outcome is Outcome.PASS
    found = counted_with(*dated, crash={"timestamp": 5_999})
    # What it had had already is its own to tell whenever it likes.
    assert "tells 7 times" in found.messages[0]
    by_another = {"key": B.encode(), "timestamp": 6_100}
    found = counted_with(*dated, leave={"key": b"nobody"}, crash=by_another)
    assert "tells 9 times" in found.messages[0]
    again = [*dated, replace(dated[1], timestamp=7_000), replace(dated[3], timestamp=7_500)]
    assert counted_with(*again).outcome is Outcome.PASS, "who came back has told of it before"


@pytest.mark.parametrize("check", ["counted_by_stage", "waits_are_in_the_logs"])
@pytest.mark.parametrize(("task", "words"), [(4, "was asked to end"), (5, "was killed")])
def test_own_stops_and_own_records_are_no_crash_and_no_good_bye(check, task, words):
    kept = {one: seen for one, seen in KEPT.items() if one != task}
    found = judged(check, kept=kept)
    assert found.outcome is Outcome.FAIL
    assert f"no member {words} while the cell of task {task} ran" in found.messages[0]


def test_who_skipped_task_two_is_seen_to_tell_in_the_later_ones():
    kept = {task: seen for task, seen in KEPT.items() if task != 2}
    for check in (*TOLD_OF[4], *TOLD_OF[5][:1]):
        assert judged(check, kept=kept).outcome is Outcome.PASS


def test_a_record_told_by_somebody_without_its_partition_is_found():
    forged = [
        replace(one, key=A.encode()) if one.text().startswith("new") and one.key == B.encode()
        else one
        for one in told()
    ]  # fmt: skip
    assert "4 were told by a member" in judged("new_ones_are_read_once", seen=forged).messages[0]


def test_a_survivor_must_have_read_it_not_who_has_gone():
    by_the_dead = [
        replace(one, key=B.encode()) if one.text().startswith("crash 3 ") else one for one in told()
    ]
    assert judged("last_reads_on", seen=by_the_dead).outcome is Outcome.FAIL


def test_dates_of_a_producer_show_no_wait():
    own = [replace(one, is_dated_by_broker=False) for one in told()]
    found = judged("waits_are_in_the_logs", seen=own)
    assert found.outcome is Outcome.FAIL
    assert "is not the topic that the cell" in found.messages[0]


def test_a_record_that_was_told_twice_may_be_timed_by_either():
    late = [replace(one, timestamp=9_000) for one in told() if one.text().startswith("crash 3 ")]
    for wait in (WAIT["crash"] / 1000, 8.0):
        values = {"waits": VALUES["waits"] | {"crash": wait}}
        found = judged("waits_are_in_the_logs", seen=told() + late, values=values)
        assert found.outcome is Outcome.PASS, found.messages


def test_who_skipped_task_two_has_task_three_all_the_same():
    values = {"from_start": P.old}
    state = {"topic": without(sent(), "new"), "seen": without(told(), "new"), "values": values}
    for check in ("others_have_all", "from_start_is_told"):
        assert judged(check, **state).outcome is Outcome.PASS


def test_who_skipped_the_leave_has_the_kill_all_the_same():
    for check, last in (("last_has_all", TWO), ("last_reads_on", TWO)):
        groups = log_of_groups(BEGIN, THREE, TWO)
        topic = without(sent(), "leave")
        late = [replace(r, timestamp=9_000) for r in topic if r.text().startswith("crash")]
        by = {n: name.encode() for name, held in TWO.items() for n in held}
        seen = without(told(), "crash") + [replace(r, key=by[r.partition]) for r in late]
        found = judged(check, groups=groups, topic=topic, seen=seen, values={"last": last})
        assert found.outcome is Outcome.PASS, found.messages


def test_who_left_task_2_out_still_counts():
    """Eight points were lost for records that no cell had let come."""
    values = {"counted": {k: v for k, v in VALUES["counted"].items() if k != "new"}}
    left_out = {"topic": without(sent(), "new"), "seen": without(told(), "new")}
    kept = {4: {"alone": 1}, 5: {"alone": 2}}
    found = judged("counted_by_stage", **left_out, values=values, kept=kept)
    assert found.outcome is Outcome.PASS, found.messages


def test_no_message_tells_what_is_asked_for():
    values = {"from_start": 1, "waits": {"leave": 9.0, "crash": 9.0}, "shares": {A: [1]}}
    for check, asked in (
        ("from_start_is_told", [f"{P.old + 13}"]),
        ("waits_are_in_the_logs", ["0.25", "5.25"]),
        ("shares_are_told", ["[0, 1, 2, 3, 4]", "5, 6"]),
    ):
        (first, *_) = judged(check, values=values).messages
        assert not any(word in first for word in asked), first


@pytest.mark.parametrize(
    "check", ["last_has_all", "last_reads_on", "counted_by_stage", "waits_are_in_the_logs"]
)
def test_the_deal_from_before_the_kill_is_none_after_it(check):
    """The group had not missed anybody yet, and two stand there."""
    found = judged(check, groups=log_of_groups(BEGIN, THREE, TWO), values={"last": TWO})
    assert found.outcome is Outcome.FAIL


FAULTS = definition.load(LAB).faults
NAMES = FAULTS[2].function.__globals__


class Faulty:
    """A fault's eyes and hands. `tell` makes tellings, by whether all else stands still."""

    p = P

    def __init__(self, monkeypatch, tell):
        self.kept, self.sent, self.known, self.tell = {}, [], [], tell
        self.stands, self.is_late = False, False
        monkeypatch.setitem(NAMES, "sender", lambda f: nullcontext(self.send))
        monkeypatch.setitem(NAMES, "told", lambda f: {*self.known})

    def send(self, stage, partitions):
        values = {f"{stage} {len(self.sent) + n}" for n, _ in enumerate(partitions)}
        self.sent += values
        return values

    @contextmanager
    def nobody_but(self, *words):
        self.stands = {*P.members} <= {*words}
        yield lambda: not self.is_late
        self.stands = False

    def wait(self, condition, what, timeout):
        self.tell(self)
        if not condition():
            raise WaitTimeout(what)

    def keep(self, **facts):
        self.kept |= facts

    def note(self, words):
        pass


def test_who_tells_only_where_the_notebook_runs_is_no_member(monkeypatch):
    def notebook(f):
        if not f.stands:
            f.known += f.sent

    fault = Faulty(monkeypatch, notebook)
    NAMES["send_in_waves"](fault, "new", [range(13), [1], [2, 3]])
    assert fault.kept == {"alone": 0}
    assert len(fault.sent) == 16


def test_what_is_seen_when_the_notebook_has_gone_on_does_not_count(monkeypatch):
    def late(f):
        f.is_late = len(f.sent) < 14
        f.known += f.sent

    fault = Faulty(monkeypatch, late)
    NAMES["send_in_waves"](fault, "new", [range(13)])
    assert fault.kept == {"alone": 0}
    NAMES["send_in_waves"](fault, "new", [[1]])
    assert fault.kept == {"alone": 1}


def test_members_on_a_machine_that_is_too_busy_are_seen_in_a_later_wave(monkeypatch):
    def slow(f):
        if not f.stands or len(f.sent) > 13:
            f.known += f.sent

    fault = Faulty(monkeypatch, slow)
    NAMES["send_in_waves"](fault, "new", [range(13), [1], [], [2, 3]])
    assert fault.kept == {"alone": 1}
    assert len(fault.sent) == 16, "all come, whoever tells"


def test_what_comes_when_a_member_has_gone_is_one_record_for_each_partition():
    held = {"ada": [0, 3, 4], "bob": [], "cleo": [n for n in range(13) if n not in (0, 3, 4)]}
    for _ in range(20):
        there = [SimpleNamespace(client=name, assignment={P.topic: n}) for name, n in held.items()]
        view = SimpleNamespace(group=lambda name, there=there: SimpleNamespace(members=there))
        name, waves = NAMES["somebody"](SimpleNamespace(p=P, kafka=view))
        assert sorted(n for wave in waves for n in wave) == list(range(13))
        assert {*held[name]} <= {*waves[0]}, "what was its own is to wait for the takeover"
        assert len(waves[0]) == min(len(held[name]) + 1, 13)
