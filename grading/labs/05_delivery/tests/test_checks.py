"""The checks of lab 05 against states that are nearly right."""

import re
import struct
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace

import pytest

from grading.judge import checks
from grading.judge.checks import Unseen
from grading.judge.log import Log, Record
from grading.judge.outcome import Outcome
from grading.judge.score import of_check
from grading.judge.visible import Visible
from grading.judge.witness import Witnessed
from kafkalab.cluster.views import ConfigValue, GroupView, PartitionView, TopicView
from tests.grading.state import Notebook, all_checks, parameters, record, weaknesses_of

CHECKS = all_checks("lab05")
P = parameters("lab05")
PROMISES = {
    "unasked": "at most once",
    "led": "neither",
    "alone": "neither",
    "doubled": "at least once",
    "once": "written once",
    "tight": "written once",
    "early": "at most once",
    "late": "at least once",
    "known": "effectively once",
    "careless": "neither",
}
OFFSETS = "__consumer_offsets"
FIRST, SECOND = "desk-1", "desk-2"


@dataclass
class Held:
    """Stands for the view of a cluster: logs, topics made of them, committed offsets."""

    logs: dict[str, list[Record]]
    copies: int = 3
    minimum: str = "2"

    def read(self, topic: str, may_be_empty: bool = False, **_) -> Log:
        if not (found := self.logs.get(topic)) and not may_be_empty:
            raise Unseen(f"the topic {topic} is empty")
        return Log(found or [])

    def topic(self, name: str):
        copies = 2 if name == P.tight else self.copies
        places = [[(n + copy) % 3 for copy in range(copies)] for n in range(6)]
        partitions = [
            PartitionView(n, p[0], 0, p, p, [], [], 0, None) for n, p in enumerate(places)
        ]
        configs = {"min.insync.replicas": ConfigValue(self.minimum, "")}
        return TopicView(name, "id", partitions, configs)

    def group(self, name: str):
        last: dict[int, int] = {}
        for one in self.logs.get(P.plain, []):
            last[one.partition] = one.offset + 1
        offsets = {(P.plain, number): end for number, end in last.items()}
        return GroupView(name, "STABLE", "classic", "range", 0, [], offsets, {})


def text(words: str | None) -> bytes:
    """As Kafka writes it: behind its length."""
    return b"\xff\xff" if words is None else struct.pack(">h", len(words.encode())) + words.encode()


def commit(group: str, topic: str, partition: int, offset: int | None):
    key = struct.pack(">h", 1) + text(group) + text(topic) + struct.pack(">i", partition)
    value = None if offset is None else struct.pack(">hqi", 3, offset, -1) + text("")
    return key, value


def members(group: str, *who: tuple[str, str | None, int]):
    value = struct.pack(">h", 3) + text("consumer") + struct.pack(">i", 1) + text("range")
    value += text(who[0][0]) + struct.pack(">qi", 0, len(who))
    for identity, instance, session in who:
        value += text(identity) + text(instance) + text("consumer") + text("/127.0.0.1")
        value += struct.pack(">iiii", 300_000, session, 0, 0)
    return struct.pack(">h", 2) + text(group), value


def burst(*partitions: int, twice: int = 0, without=(), worker=None) -> list[Record]:
    """What a burst leaves, its last `twice` records once more."""
    ends: dict[int, int] = {}
    numbers = [n for n in range(P.records) if n % len(partitions) not in without]
    found = []
    for number in [*numbers, *numbers[len(numbers) - twice :]]:
        partition = partitions[number % len(partitions)]
        offset = ends[partition] = ends.get(partition, -1) + 1
        who = b"1" if number < P.records // 2 else b"2"
        headers = (("worker", who),) if worker else ()
        found.append(record(partition, offset, b"saying", str(number).encode(), headers))
    return sorted(found, key=lambda one: (one.partition, one.offset))


def greeted(*partitions: int) -> list[Record]:
    return [record(number, 0, None, b"hello") for number in partitions]


def groups(*written) -> list[Record]:
    return [record(0, at, value, key) for at, (key, value) in enumerate(written)]


def plain_commits(share: float = 1):
    each = P.records // 6
    return [commit(P.readers, P.plain, n, int(each * share)) for n in range(6)]


LATE = members(P.late_workers, ("w-1", None, 3_000), ("w-2", None, 3_000))
CAME_BACK = (
    members(P.readers, (FIRST, P.instance, 8_000)),
    *plain_commits(),
    members(P.readers, (SECOND, P.instance, 8_000)),
)
ALL = range(6)
LOST = [n for n in ALL if n % 3 == P.frozen]
AWAY = [n for n in ALL if P.away in (n % 3, (n + 1) % 3)]
ZERO = {"lost": 0, "extra": 0}


@cache
def logs() -> dict[str, list[Record]]:
    """What the reference leaves."""
    return {
        P.plain: burst(*ALL),
        P.unasked: burst(*ALL, without=LOST) + greeted(*ALL),
        P.asked: burst(*ALL),
        P.led: greeted(P.leader, P.leader + 3),
        P.copied: burst(P.leader, P.leader + 3),
        P.tight: burst(*ALL, without=AWAY),
        P.sturdy: burst(*ALL),
        P.doubled: burst(*ALL, twice=P.dropped),
        P.once: burst(*ALL),
        P.done: burst(*ALL, twice=P.every - 1, worker=True),
        P.late_done: burst(*ALL, twice=P.repeated, worker=True),
        OFFSETS: groups(*CAME_BACK, LATE),
    }


EMPTY: dict[str, list[Record]] = {topic: [] for topic in logs()}


def values() -> dict[str, object]:
    """What the reference says."""
    acknowledged = [
        SimpleNamespace(partition=one.partition, key=one.key.decode())
        for one in burst(P.leader, P.leader + 3)
    ]
    return {
        "both": ZERO,
        "again": 0,
        "waited": 0.4,
        "because": {"wait": "session not over", "repetition": "nothing committed"},
        "promised_2": P.records,
        "unasked_2": {"lost": P.records // 3, "extra": 0},
        "predicted_2": P.records // 3,
        "asked_2": ZERO,
        "led_3": {"lost": P.records, "extra": 0},
        "predicted_3": P.records,
        "acknowledged_3": acknowledged,
        "copied_3": ZERO,
        "tight_4": P.records // 3,
        "predicted_4": P.records // 3,
        "went_4": P.records,
        "sturdy_4": ZERO,
        "doubled_5": {"lost": 0, "extra": P.dropped},
        "predicted_5": P.dropped,
        "once_5": ZERO,
        "status_6": -9,
        "predicted_6": P.every,
        "orders_6": {"lost": 0, "extra": P.every - 1},
        "unique_7": P.records,
        "late_7": {"lost": 0, "extra": P.repeated},
        "promises": dict(PROMISES),
        "choice": {"payments": "once", "clicks": "unasked", "alarms": "doubled"},
    }


def judged(check: str, there=None, said=None, **held):
    """What a check makes of a state; `there` and `said` change what the reference leaves."""
    view = Held(logs() | (there or {}), **held)
    x = Visible(Notebook(values() | (said or {})), view, P, "seed")
    return checks.run(CHECKS[check], x)


ON_DISKS = {"copied_everywhere", "refused_are_left_out", "batches_are_numbered"}
BY_STATE = [check for check in CHECKS if check not in ON_DISKS]


@pytest.mark.parametrize("check", BY_STATE)
def test_what_the_reference_leaves_has_all_points(check):
    found = judged(check)
    assert found.outcome is Outcome.PASS, found


@pytest.mark.parametrize("check", [c for c in BY_STATE if c != "sturdy_has_its_shape"])
def test_right_values_without_a_record_on_the_brokers_have_no_point(check):
    found = judged(check, EMPTY)
    assert of_check(CHECKS[check], found).reached == 0, found
    assert found.messages


def test_a_consumer_that_came_once_proves_nothing():
    once = {OFFSETS: groups(*CAME_BACK[:-1])}
    for check in ("nothing_again", "back_at_once", "reasons_are_known"):
        (said,) = judged(check, once).messages
        assert "no second consumer" in said


def test_what_was_not_committed_before_the_second_consumer_came_came_again():
    first, *commits, second = CAME_BACK
    for written in ([first, second, *commits], [first, *plain_commits(0.5), second, *commits]):
        found = judged("nothing_again", {OFFSETS: groups(*written)})
        assert found.outcome is Outcome.FAIL
        assert "were not committed" in found.messages[0]


def test_commits_of_a_topic_that_was_deleted_do_not_count():
    first, *commits, second = CAME_BACK
    gone = [commit(P.readers, P.plain, n, None) for n in ALL]
    found = judged("nothing_again", {OFFSETS: groups(first, *commits, *gone, second)})
    assert found.outcome is Outcome.FAIL


@pytest.mark.parametrize("name", [None, "", "other"])
def test_a_member_that_comes_back_under_no_name_or_another_is_a_stranger(name):
    back = members(P.readers, (SECOND, name, 8_000))
    found = judged("back_at_once", {OFFSETS: groups(*CAME_BACK[:-1], back)})
    assert "cannot know it again" in found.messages[0]
    assert found.outcome is Outcome.FAIL


def test_a_session_is_what_the_group_was_told_and_not_what_a_dictionary_says():
    slow = members(P.late_workers, ("w-1", None, 7_000), ("w-2", None, 7_000))
    found = judged("taken_over_soon", {OFFSETS: groups(*CAME_BACK, slow)})
    assert "waits 7000 ms" in found.messages[0]
    alone = members(P.late_workers, ("w-1", None, 3_000))
    found = judged("taken_over_soon", {OFFSETS: groups(*CAME_BACK, alone)})
    assert "never had two members" in found.messages[0]


def test_records_of_groups_that_nobody_can_read_are_passed_over():
    odd = [(b"\x00", b"x"), (b"\x00\x02\x00\x09abc", None), (CAME_BACK[0][0], b"\x00\x03\x00\xff")]
    written = {OFFSETS: groups(*odd, *CAME_BACK, *odd)}
    assert judged("nothing_again", written).outcome is Outcome.PASS


def test_one_acknowledged_record_many_times_is_not_all_of_them():
    one = values()["acknowledged_3"][:1]
    found = judged("copied_are_there", said={"acknowledged_3": one * P.records})
    assert "for 1 of" in found.messages[0]
    assert found.outcome is Outcome.FAIL


@pytest.mark.parametrize("acknowledged", [[], None, "all"])
def test_who_acknowledges_nothing_has_refused_nothing(acknowledged):
    found = judged("copied_are_there", said={"acknowledged_3": acknowledged})
    x = Visible(Notebook(values() | {"deliver": lambda *_: []}), Held(logs()), P, "seed")
    refused = checks.run_in_order(CHECKS["refused_are_left_out"], x, {found.check: found})
    assert refused.outcome is Outcome.NEEDS


def test_a_broker_that_may_be_away_needs_one_copy_more_than_the_minimum():
    (two,) = judged("sturdy_has_its_shape", copies=2).messages
    assert two.startswith("a partition has 2 copies, of which 2")
    (one,) = judged("sturdy_has_its_shape", minimum="1").messages
    assert one.startswith("min.insync.replicas is 1")


def test_a_loop_that_loses_its_second_worker_has_not_kept_repetitions_small():
    alone = [replace(one, headers=(("worker", b"1"),)) for one in burst(*ALL)]
    for check, topic in (("killed_and_little_again", P.done), ("late_and_few_again", P.late_done)):
        found = judged(check, {topic: alone})
        assert found.outcome is Outcome.FAIL
        assert "work of worker 1;" in found.messages[0]


def test_headers_of_any_kind_are_workers_that_nobody_knows():
    for headers in ((), (("worker", None),), (("worker", b"\xff"),), (("other", b"1"),)):
        odd = [replace(one, headers=headers) for one in burst(*ALL)]
        assert judged("killed_and_nothing_lost", {P.done: odd}).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("check", "topic", "name"),
    [("asked_are_there", P.asked, "asked_2"), ("sturdy_went_on", P.sturdy, "sturdy_4")],
)
def test_where_nothing_may_be_lost_a_copy_more_does_no_harm(check, topic, name):
    twice = {topic: burst(*ALL, twice=2)}
    assert judged(check, twice, {name: {"lost": 0, "extra": 2}}).outcome is Outcome.PASS
    assert judged(check, twice).outcome is Outcome.PART, "but it is to be measured"


@pytest.mark.parametrize(
    ("status", "how"),
    [(0, "in good order"), (1, "by itself, with an error"), (-15, "after signal 15")],
)
def test_a_worker_that_was_not_killed_has_survived_nothing(status, how):
    found = judged("killed_and_nothing_lost", said={"status_6": status})
    (said,) = found.messages
    assert found.outcome is Outcome.PART
    assert said.startswith(f"status_6 is {status}: so ends a program {how}")
    assert "-9" not in said


def test_a_prediction_costs_its_share_alone():
    for said in (None, "120", P.records + 1):
        found = judged("unasked_are_lost", said={"predicted_2": said})
        assert found.outcome is Outcome.PART
        assert len(found.messages) == 1


@pytest.mark.parametrize(
    ("check", "name"),
    [
        ("unasked_are_lost", "predicted_2"),
        ("led_are_lost", "predicted_3"),
        ("tight_refuses", "predicted_4"),
        ("doubled_are_extra", "predicted_5"),
        ("killed_and_little_again", "predicted_6"),
    ],
)
def test_no_message_tells_what_is_to_be_foretold(check, name):
    right = re.compile(rf"\b{values()[name]}\b")
    often = {topic: log + log for topic, log in logs().items() if log and topic != OFFSETS}
    for there in ({}, EMPTY, often):
        found = judged(check, there, said={name: 7_777})
        assert found.messages
        told = [m for m in found.messages if "say something else" not in m]  # it tells one's own
        assert not any(right.search(message) for message in told), told


def test_a_word_that_is_no_answer_is_told_from_one_that_is_wrong():
    mine = PROMISES | {"once": "exactly once", "led": "at most once"}
    led, once = judged("promises_are_named", said={"promises": mine}).messages
    assert led.startswith("led: not 'at most once'; what can each fault do")
    assert "say one of" in once
    assert "'written once'" in once


def test_a_promise_counts_beside_a_run_that_shows_it():
    alone = {P.unasked: logs()[P.unasked]}
    found = judged("promises_are_named", EMPTY | alone)
    assert len(found.messages) == len(PROMISES) - 1, "the line that was run"
    found = judged("promises_are_named", said={"led_3": ZERO, "once_5": "nothing lost"})
    led, once = found.messages
    assert led.startswith("led: led_3 is not what")
    assert once.startswith("once: no run of yours shows it: once_5: expected")


@pytest.mark.parametrize(
    ("line", "answer", "why"),
    [
        ("unasked", "at least once", "has lost some"),
        ("led", "written once", "has lost some"),
        ("doubled", "written once", "has some twice"),
        ("doubled", "at most once", "has some twice"),
        ("late", "effectively once", "has some twice"),
        ("once", "at most once", "what can each fault do"),
        ("early", "written once", "what can each fault do"),
    ],
)
def test_an_answer_is_held_against_the_run_that_it_is_about(line, answer, why):
    (said,) = judged("promises_are_named", said={"promises": PROMISES | {line: answer}}).messages
    assert said.startswith(f"{line}: not '{answer}'; ")
    assert why in said


def test_a_count_shows_a_line_as_a_verdict_does():
    found = judged("promises_are_named", said={"tight_4": 0, "unique_7": P.records - 1})
    tight, known = found.messages
    assert tight == f"tight: tight_4 is not what {P.tight} holds"
    assert known == f"known: unique_7 is not what {P.late_done} holds"


def test_a_choice_counts_beside_a_run_that_shows_it():
    found = judged("choice_fits", said={"doubled_5": ZERO})
    (alarms,) = found.messages
    assert alarms.startswith("alarms: doubled_5 is not what")
    found = judged("choice_fits", said={"choice": {"payments": "led", "clicks": ["unasked"]}})
    assert len(found.messages) == 3


@pytest.mark.parametrize("check", BY_STATE)
def test_whatever_a_name_or_a_record_holds_a_check_says_a_sentence(check):
    x = Witnessed(Notebook(values()), Held(logs()), P, "seed")
    assert weaknesses_of(CHECKS[check], x, P) == []
