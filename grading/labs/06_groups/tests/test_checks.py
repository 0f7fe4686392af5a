"""The checks of lab 06 against states that are nearly right."""

import json
import struct
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace

import pytest

from grading.judge import checks
from grading.judge.checks import Unseen
from grading.judge.groups import TOPIC
from grading.judge.log import Log, Record
from grading.judge.outcome import Outcome
from grading.judge.score import of_check
from grading.judge.visible import Visible
from grading.judge.witness import Witnessed
from kafkalab.cluster.views import Configs, GroupView, PartitionView, TopicView
from tests.grading.offsets_topic import Written, commit, log, members, text
from tests.grading.state import Notebook, all_checks, loaded, parameters, weaknesses_of

LAB = loaded("lab06")
CHECKS = all_checks("lab06")
P = parameters("lab06")
SHARED = {**P.day_2, "group": P.shared}
WORK_MS = 40  # what packing an order takes
LEFT = 2  # orders of each partition that the counter of task 4 has packed and committed
HALF = [3, 4, 5]
MOVED_AT = 50_000  # when the newcomer of task 5 has its partitions


def orders(day, number, partitions=6) -> list[Record]:
    """What `send_orders` leaves."""
    found = [Record(n % partitions, n // partitions, 1, None, b"%d" % n) for n in range(number)]
    return sorted(found, key=lambda one: (one.partition, one.offset))


def packed(some: list[Record], owner, group: str, at=lambda one: 100) -> list[Record]:
    """Results of these orders, each after those before it in the list.

    `owner` says who packed one; `at`, from which time on.
    """
    return [
        Record(
            *(0, n, at(one) + n * WORK_MS, b"key", one.value),
            (
                ("member", owner(one).encode()),
                ("group", group.encode()),
                ("place", b"%d %d" % (one.partition, one.offset)),
            ),
            is_dated_by_broker=True,
        )
        for n, one in enumerate(some)
    ]


def ends(some: list[Record]) -> dict[int, int]:
    return dict(Counter(one.partition for one in some))


def all_committed(day, some: list[Record], metadata: str = "", at: int = 90_000) -> list[Written]:
    return [commit(day["group"], day["topic"], n, e, metadata, at) for n, e in ends(some).items()]


def dealt(names: list[str], partitions: int) -> dict[int, str]:
    """As range deals."""
    found, place = {}, 0
    for number, name in enumerate(sorted(names)):
        size = partitions // len(names) + (number < partitions % len(names))
        found |= dict.fromkeys(range(place, place + size), name)
        place += size
    return found


def share(day, owners: dict[int, str], generation: int = 1, at: int = 10) -> Written:
    held: dict[str, list[int]] = {}
    for partition, name in owners.items():
        held.setdefault(name, []).append(partition)
    who = [(f"{name}-1", name, None, part) for name, part in held.items()]
    return members(day["group"], generation, day["topic"], *who, at=at)


THREE, PAIR, CREW = dealt(P.three, 13), dealt(P.pair, 6), dealt(P.crew, 6)
SEATS = dealt(P.seats, 6)
ONE, TWO = orders(P.day_1, P.orders, 13), orders(P.day_2, P.parcels)
RUSH, COUNTED = orders(P.day_3, P.rush), orders(P.day_4, P.counted)
HANDED, NIGHT = orders(P.day_5, P.handed), orders(P.day_6, P.nightly)
SURVIVOR = next(name for name in P.crew if name not in P.killed)
KILLED = dict(zip(P.killed, (3_000, 7_000), strict=True))
BEFORE = [one for one in HANDED if one.offset < 5]
"""What is packed when the newcomer comes."""


def story_of_5(metadata: str = P.careful, offset: int = 5) -> list[Written]:
    group, topic, me = P.day_5["group"], P.day_5["topic"], f"{P.careful}-1"
    new = (f"{P.newcomer}-1", P.newcomer, None, HALF)
    return [
        members(group, 1, topic, (me, P.careful, None, [])),
        members(group, 2, topic, (me, P.careful, None, list(range(6)))),
        *(commit(group, topic, n, offset, metadata, 40_000) for n in range(6)),
        members(group, 3, topic, new, (me, P.careful, None, [0, 1, 2]), at=MOVED_AT),
        members(group, 4, topic, (me, P.careful, None, list(range(6)))),
        *all_committed(P.day_5, HANDED, metadata),
    ]


def story_of_6(again: str = "back-1", generation: int = 2, name: str | None = P.falls):
    group, topic = P.day_6["group"], P.day_6["topic"]
    (other,) = (seat for seat in P.seats if seat != P.falls)

    def seated(identity, instance, generation):
        mine, others = ([n for n in SEATS if SEATS[n] == who] for who in (P.falls, other))
        return members(
            *(group, generation, topic, (identity, P.falls, instance, mine)),
            ("other-1", other, other, others),
        )

    first = seated("first-1", P.falls, 2)
    return [first, seated(again, name, generation), *all_committed(P.day_6, NIGHT)]


def deaths(after_ms: int = 2_700) -> list[Written]:
    """Two of the crew are killed, and each is missed so long afterwards."""
    story, left = [share(P.day_3, CREW)], list(P.crew)
    for number, name in enumerate(P.killed, start=2):
        left.remove(name)
        story.append(share(P.day_3, dealt(left, 6), number, KILLED[name] + after_ms))
    return story


STORY = {
    1: [share(P.day_1, THREE), *all_committed(P.day_1, ONE)],
    2: [
        share(SHARED, PAIR),
        *(share({**P.day_2, "group": g}, dealt([g], 6)) for g in P.departments),
    ],
    3: [*deaths(), *all_committed(P.day_3, RUSH)],
    4: [commit(P.day_4["group"], P.day_4["topic"], n, LEFT) for n in range(6)],
    5: story_of_5(),
    6: story_of_6(),
}


def by_owner(owners):
    return lambda one: owners[one.partition]


def in_time(one):
    return 100 if one.offset < 5 else MOVED_AT + 100


@cache
def logs() -> dict[str, list[Record]]:
    """What the reference leaves."""
    two = packed(TWO, by_owner(PAIR), P.shared)
    for group in P.departments:
        two += packed(TWO, lambda _: "somebody", group)
    return {
        P.day_1["topic"]: ONE,
        P.day_1["results"]: packed(ONE, by_owner(THREE), P.day_1["group"]),
        P.day_2["topic"]: TWO,
        P.day_2["results"]: [replace(one, offset=n) for n, one in enumerate(two)],
        P.day_3["topic"]: RUSH,
        P.day_3["results"]: packed(RUSH, by_owner(CREW), P.day_3["group"]),
        P.day_4["topic"]: COUNTED,
        P.day_4["results"]: packed(COUNTED[:12], lambda _: P.counter, P.day_4["group"]),
        P.day_5["topic"]: HANDED,
        P.day_5["results"]: packed(HANDED, lambda _: P.careful, P.day_5["group"], in_time),
        P.day_6["topic"]: NIGHT,
        P.day_6["results"]: packed(NIGHT, by_owner(SEATS), P.day_6["group"]),
        TOPIC: log(*(written for story in STORY.values() for written in story)),
    }


ARCHIVE = {0: (4, 10), 1: (4, 10), 2: (0, 10), 3: (0, 10), 4: (0, 10), 5: (0, 0)}
CLERKS = {1: 7, 2: 3, 3: 10}
LAGS = {0: 6, 1: 3, 2: 7, 3: 0, 4: 10, 5: 0}


@dataclass
class Held:
    """Stands for the view of a cluster: logs, topics made of them, committed offsets."""

    logs: dict[str, list[Record]]
    left: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(6), LEFT))
    producer: int = 0
    """One that has sent everything; 0 for none."""
    by_hand: tuple[int, ...] = ()
    """The offsets of results that another one has sent."""

    def read(self, topic: str, may_be_empty: bool = False, **_) -> Log:
        if not (found := self.logs.get(topic)) and not may_be_empty:
            raise Unseen(f"the topic {topic} is empty")
        return Log(found or [])

    def batches(self, topic: str, partition: int):
        """A batch for each record; every member has a producer of its own."""
        log = self.logs[topic] if partition == 0 else []
        who = {one.offset: (one.header("member"), one.header("group")) for one in log}
        ids = {each: self.producer or number for number, each in enumerate(sorted(who.values()))}
        return [
            SimpleNamespace(
                base_offset=n, last_offset=n, producer_id=99 if n in self.by_hand else ids[each]
            )
            for n, each in who.items()
        ]

    def topic(self, name: str):
        bounds = ARCHIVE
        if name != P.archive:
            number = 13 if name == P.day_1["topic"] else 6
            held = ends(self.logs.get(name, []))
            bounds = {n: (0, held.get(n, 0)) for n in range(number)}
        found = [PartitionView(n, 0, 0, [0], [0], [], [], *b) for n, b in bounds.items()]
        return TopicView(name, "id", found, Configs())

    def groups(self):
        return {P.day_4["group"]: "EMPTY", P.clerks: "EMPTY"} if self.left else {P.clerks: "EMPTY"}

    def group(self, name: str):
        offsets = {(P.day_4["topic"], n): offset for n, offset in self.left.items()}
        if name == P.clerks:
            elsewhere = {(P.day_4["topic"], n): 2 for n in (0, 5)}
            offsets = elsewhere | {(P.archive, n): offset for n, offset in CLERKS.items()}
        return GroupView(name, "EMPTY", "classic", "", 0, [], offsets, {})


EMPTY: dict[str, list[Record]] = {topic: [] for topic in logs()}
WHOLE = list(range(6))
TOLD = [("assigned", WHOLE), ("revoked", WHOLE)]
TOLD = [*TOLD, ("assigned", [0, 1, 2]), ("revoked", [2, 0, 1]), *TOLD]


def lag_of(group, topic):
    if topic == P.archive:
        return dict(LAGS)
    return {n: end - LEFT for n, end in ends(COUNTED).items()}


def values() -> dict[str, object]:
    """What the reference says."""
    return {
        "owners_1": dict(THREE),
        "predicted_1": dict(Counter(THREE.values())),
        "predicted_2": sum(PAIR[one.partition] == P.pair[0] for one in TWO),
        "by_group": dict.fromkeys([P.shared, *P.departments], P.parcels),
        "by_member": dict(Counter(PAIR[one.partition] for one in TWO)),
        "lag_4": lag_of("", P.day_4["topic"]),
        "lag_of": lag_of,
        "told_5": [("revoked", []), *TOLD],
    }


SEEN = {
    3: {"killed": KILLED, "packed": P.killed_at, "alone": [P.killed[1]]},
    4: {"moved": [list(one) for one in CLERKS.items()]},
    5: {"alone": [P.careful]},
    6: {"alone": [P.falls]},
}
"""What the faults have kept."""


def judged(check: str, there=None, said=None, **held):
    """What a check makes of a state; `there` and `said` change what the reference leaves."""
    notebook = Notebook(values() | (said or {}), seen=SEEN)
    x = Visible(notebook, Held(logs() | (there or {}), **held), P, "seed")
    return checks.run(CHECKS[check], x)


def told(check: str, story: list[Written], there=None):
    """The same with another story of the group."""
    return judged(check, {**(there or {}), TOPIC: log(*story)})


@pytest.mark.parametrize("check", CHECKS)
def test_what_the_reference_leaves_has_all_points(check):
    found = judged(check)
    assert found.outcome is Outcome.PASS, found


BY_GROUP = ("three_share", "shares_are_foretold")
"""They ask the group alone."""
GROUPS = (P.day_1["group"], P.shared, *P.departments)
OF_SHARING = [check for check in CHECKS if CHECKS[check].task in (1, 2)]


@pytest.mark.parametrize("check", [c for c in OF_SHARING if c not in BY_GROUP])
@pytest.mark.parametrize("when", [0, -1])
def test_results_that_somebody_adds_beside_the_members_are_nobodys(check, when):
    """However real the members are. Who joins a second time has a second producer."""
    day = P.day_1 if CHECKS[check].task == 1 else P.day_2
    last = logs()[day["results"]][when].offset
    found = judged(check, by_hand=(last,))
    assert "somebody else has added some" in found.messages[-1], found
    again = [members(g, 9, day["topic"], ("again-1", "x", None, [])) for g in GROUPS]
    story = [*again, *(written for one in STORY.values() for written in one)]
    assert judged(check, {TOPIC: log(*story)}, by_hand=(last,)).outcome is Outcome.PASS


@pytest.mark.parametrize("check", [c for c in CHECKS if c != "lag_of_another_group"])
def test_right_values_without_a_record_on_the_brokers_have_no_point(check):
    found = judged(check, EMPTY)
    assert of_check(CHECKS[check], found).reached == 0, found
    assert found.messages


@pytest.mark.parametrize("check", [c for c in CHECKS if c != "lag_of_another_group"])
def test_results_by_hand_without_a_group_have_no_point(check):
    if check not in {"nothing_is_lost", "few_again", "nothing_again", "night_is_whole"}:
        found = judged(check, {TOPIC: []})  # those four stand beside a fault that needs the group
        assert of_check(CHECKS[check], found).reached == 0, found


@pytest.mark.parametrize("check", CHECKS)
def test_whatever_a_name_or_a_record_holds_a_check_says_a_sentence(check):
    x = Witnessed(Notebook(values(), seen=SEEN), Held(logs()), P, "seed")
    assert weaknesses_of(CHECKS[check], x, P) == []


@pytest.mark.parametrize(
    ("task", "names"),
    {
        3: ["nothing_is_lost", "few_again", "work_comes_first"],
        5: ["nothing_again", "committed_in_time"],
        6: ["seat_is_kept", "night_is_whole"],
    }.items(),
)
@pytest.mark.parametrize("alone", [[], [SURVIVOR, "somebody"]])
def test_whose_process_was_not_seen_to_pack_has_nothing_for_it(task, names, alone, monkeypatch):
    monkeypatch.setitem(SEEN, task, SEEN[task] | {"alone": alone})
    for check in names:
        (said,) = judged(check).messages
        assert said.startswith("nobody has seen")
        assert of_check(CHECKS[check], judged(check)).reached == 0


def test_what_is_no_order_of_the_day_is_no_result():
    (first, *rest) = logs()[P.day_1["results"]]
    for odd in (
        replace(first, value=b"another text"),
        replace(first, headers=()),
        replace(first, headers=(("place", b"99 0"),)),
    ):
        (said,) = judged("packed_by_their_readers", {P.day_1["results"]: [odd, *rest]}).messages
        assert "are no orders of" in said


def test_a_result_too_few_or_twice_is_told():
    (first, *rest) = logs()[P.day_1["results"]]
    (few,) = judged("packed_by_their_readers", {P.day_1["results"]: rest}).messages
    assert few.startswith(f"1 of {P.orders} orders are in no result: partition 0 offset 0")
    twice = judged("packed_by_their_readers", {P.day_1["results"]: [first, first, *rest]})
    assert twice.messages == ["1 orders are packed more than once: partition 0 offset 0"]


def test_who_packed_what_another_one_reads_is_told():
    by_one = packed(ONE, lambda _: min(P.three), P.day_1["group"])
    found = judged("packed_by_their_readers", {P.day_1["results"]: by_one})
    assert found.outcome is Outcome.PART
    assert "were packed by others" in found.messages[0]


def test_a_day_with_fewer_orders_proves_nothing():
    few = {P.day_3["topic"]: RUSH[:9], P.day_3["results"]: logs()[P.day_3["results"]][:9]}
    (said,) = judged("few_again", few).messages
    assert said.endswith(f"holds 9 orders, and {P.rush} are to be sent")


@pytest.mark.parametrize("names", [P.three[:2], [*P.three[:2], "somebody"], [*P.three, "somebody"]])
def test_other_members_than_the_three_never_shared(names):
    (said,) = told("three_share", [share(P.day_1, dealt(names, 13))]).messages
    assert "never had all partitions" in said


def test_a_department_of_which_nobody_had_all_partitions_has_nothing():
    only_commits = [commit(group, P.day_2["topic"], 0, 5) for group in P.departments]
    assert told("each_has_everything", only_commits).outcome is Outcome.FAIL


def test_kills_may_repeat_so_much_and_no_more():
    most = 2 * P.repeated
    results = logs()[P.day_3["results"]]
    for extra, outcome in ((most, Outcome.PASS), (most + 1, Outcome.FAIL)):
        found = judged("few_again", {P.day_3["results"]: results + results[:extra]})
        assert found.outcome is outcome


def test_a_commit_before_its_work_is_seen_though_nothing_was_lost():
    early = [share(P.day_3, CREW), *all_committed(P.day_3, RUSH, at=99)]
    story = [*early, *all_committed(P.day_3, RUSH)]
    assert told("work_comes_first", story).outcome is Outcome.FAIL
    assert told("nothing_is_lost", story).outcome is Outcome.PASS


@pytest.mark.parametrize(("after_ms", "outcome"), [(110, Outcome.FAIL), (2_000, Outcome.PASS)])
@pytest.mark.parametrize("check", ["nothing_is_lost", "few_again", "work_comes_first"])
def test_a_member_that_leaves_when_a_process_of_its_name_is_killed_is_not_dead(
    check, after_ms, outcome
):
    found = told(check, [*deaths(after_ms), *all_committed(P.day_3, RUSH)])
    assert found.outcome is outcome
    assert all("another process was the member" in said for said in found.messages)


@pytest.mark.parametrize("day", ["day_3", "day_4", "day_5", "day_6"])
def test_results_in_one_burst_are_nobodys_work(day):
    results = P[day]["results"]
    burst = [replace(one, timestamp=100 + one.offset) for one in logs()[results]]
    check = {"day_3": "nothing_is_lost", "day_4": "lag_is_measured", "day_5": "nothing_again"}
    (said,) = judged(check.get(day, "night_is_whole"), {results: burst}).messages
    assert "faster than anybody packs" in said


def test_the_notebook_packs_as_fast_as_the_checks_say():
    text = LAB.place.student.joinpath("lab06_groups.ipynb").read_text("utf-8")
    assert f"seconds = {WORK_MS / 1000} " in text
    assert f"WORK_MS = {WORK_MS}\n" in LAB.place.student.joinpath("packing.py").read_text("utf-8")


def test_threads_of_a_member_pack_one_after_another(monkeypatch):
    written = json.loads(LAB.place.student.joinpath("lab06_groups.ipynb").read_text("utf-8"))
    cells = ["".join(cell["source"]) for cell in written["cells"]]
    (cell,) = (one for one in cells if one.startswith("packing = "))
    lines: dict[str, str] = {}
    exec(cell, lines)
    at_work, most, sent = [], [], []

    def work(pace):
        at_work.append(pace)
        meeting.wait(0.02)  # nobody ever sets it: time for another thread to begin
        most.append(len(at_work))

    def send(topic, value, key, headers):
        at_work.pop()
        sent.append(value)
        return SimpleNamespace(get=lambda timeout: None)

    meeting = threading.Event()
    monkeypatch.setattr("kafka.KafkaProducer", lambda **_: SimpleNamespace(send=send))
    given = dict.fromkeys(("address", "name", "group", "results"), "it")
    member = given | {"pace": 0.04, "work": work}
    exec(lines["packing"], member)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(member["pack"], RUSH[:8]))
    assert most == [1] * 8
    assert sorted(sent) == sorted(one.value for one in RUSH[:8])


def test_who_is_told_to_stop_packs_its_last_orders_at_once():
    results = P.day_6["results"]
    *some, last = logs()[results]
    hasty = [replace(one, timestamp=last.timestamp) for one in some[-15:]]
    found = judged("night_is_whole", {results: [*some[:-15], *hasty, last]})
    assert found.outcome is Outcome.PASS


@pytest.mark.parametrize(
    "check", ["packed_by_their_readers", "each_has_everything", "pair_shares", "shares_are_counted"]
)
def test_results_of_several_members_by_one_producer_are_nobodys(check):
    for producer in (7, -1):
        found = judged(check, producer=producer)
        assert "one producer has sent results of" in found.messages[-1]
        assert of_check(CHECKS[check], found).reached == 0


def test_results_made_anew_when_the_first_was_dead_are_none_of_the_crew():
    results = P.day_3["results"]
    tidied = [replace(one, timestamp=one.timestamp + 20_000) for one in logs()[results]]
    for check in ("nothing_is_lost", "few_again", "work_comes_first"):
        (said,) = judged(check, {results: tidied}).messages
        assert "somebody has made it anew" in said


@pytest.mark.parametrize(
    ("check", "number", "some"),
    [
        ("nothing_is_lost", 3, RUSH),
        ("committed_at_the_end", 5, HANDED),
        ("night_is_whole", 6, NIGHT),
    ],
)
def test_a_commit_for_a_group_that_all_have_left_is_none_of_a_member(check, number, some):
    day = P[f"day_{number}"]
    commits = all_committed(day, some, P.careful)
    story = [one for one in STORY[number] if one[2] != commits[0][2]]  # by when they came
    assert told(check, [*story, *commits]).outcome is Outcome.PASS
    by_hand = told(check, [*story, members(day["group"], 9, day["topic"]), *commits])
    assert by_hand.outcome is not Outcome.PASS


def test_results_that_their_sender_has_dated_prove_nothing():
    results = P.day_5["results"]
    own = [replace(one, is_dated_by_broker=False) for one in logs()[results]]
    (said,) = judged("nothing_again", {results: own}).messages
    assert "not dated by the broker" in said


def test_what_is_put_in_when_the_group_has_done_with_it_was_lost():
    early = [share(P.day_3, CREW), *all_committed(P.day_3, RUSH, at=99)]
    assert told("nothing_is_lost", early).outcome is Outcome.PART
    assert told("few_again", early).outcome is Outcome.FAIL


def test_commits_of_another_day_are_not_early():
    of_another_day = [commit(P.day_3["group"], P.day_3["topic"], 0, 3, at=0)]
    story = [*of_another_day, *all_committed(P.day_3, RUSH)]
    assert told("work_comes_first", story).outcome is Outcome.PASS


def test_a_group_that_is_not_behind_has_no_lag_to_measure():
    there = ends(COUNTED)
    found = judged("lag_is_measured", said={"lag_4": dict.fromkeys(there, 0)}, left=there)
    assert "its member went on" in found.messages[0]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_who_has_committed_nothing_is_behind_by_all(protocol):
    joined = share(P.day_4, dict.fromkeys(range(6), P.counter))
    if protocol == "consumer":  # whose members stand behind keys of other kinds
        joined = struct.pack(">h", 3) + text(P.day_4["group"]), b"\0\0", 10
    there = {TOPIC: log(joined)}
    every = {"lag_4": ends(COUNTED), "lag_of": lambda *_: ends(COUNTED)}
    for check in ("lag_is_measured", "lag_is_asked"):
        assert judged(check, there, every, left={}).outcome is Outcome.PASS
        assert judged(check, there, left={}).outcome is Outcome.FAIL


def test_a_table_of_lags_is_older_than_the_offsets():
    seen = {n: ARCHIVE[n][1] - {1: 8, 2: 4, 3: 9}.get(n, ARCHIVE[n][0]) for n in ARCHIVE}
    typed = judged("lag_of_another_group", said={"lag_of": lambda *_: seen})
    assert typed.messages[0].endswith("something else of the partitions [1, 2, 3]")


@pytest.mark.parametrize("kept", [{}, {"moved": [[1, 8]]}])
def test_offsets_that_somebody_has_put_back_ask_for_nothing(kept, monkeypatch):
    monkeypatch.setitem(SEEN, 4, kept)
    (said,) = judged("lag_of_another_group").messages
    assert "is not as the cell in front" in said


@pytest.mark.parametrize(
    "wrong", [{0: 10}, {5: 10}, {0: 8}, {2: 10}, {6: 0}], ids=lambda one: str(one)
)
def test_a_lag_of_another_group_that_is_nearly_right(wrong):
    found = judged("lag_of_another_group", said={"lag_of": lambda *_: LAGS | wrong})
    (partition,) = wrong
    assert found.messages[0].endswith(f"something else of the partitions [{partition}]")


@pytest.mark.parametrize(
    ("check", "name", "said"),
    [
        ("three_share", "owners_1", dict.fromkeys(range(13), "nobody")),
        ("shares_are_foretold", "predicted_1", dict.fromkeys(P.three, 6)),
        ("shares_are_counted", "by_member", dict.fromkeys(P.pair, 999)),
        ("shares_are_counted", "predicted_2", 999),
        ("lag_is_measured", "lag_4", dict.fromkeys(range(6), 999)),
        ("lag_is_asked", "lag_of", lambda *_: dict.fromkeys(range(6), 999)),
        ("listener_is_told", "told_5", TOLD[:3]),
    ],
)
def test_a_message_does_not_change_with_what_is_to_be_found_out(check, name, said):
    (message,) = judged(check, said={name: said}).messages
    right = values()[name]
    if isinstance(right, int):
        assert str(right) not in message
    elif isinstance(right, dict):
        assert not any(f"{key}: {value}" in message for key, value in right.items())
    assert "999" not in message or name == "predicted_2"


@pytest.mark.parametrize(
    ("story", "words"),
    [
        (story_of_5(offset=4), "was not what was committed"),
        (story_of_5(metadata=""), "bears no name"),
        (story_of_5(metadata="somebody"), "bears no name"),
        (story_of_5()[:1], "never shared"),
    ],
)
def test_a_hand_over_that_is_nearly_right(story, words):
    found = told("committed_in_time", story)
    assert found.outcome in {Outcome.FAIL, Outcome.PART}
    assert words in found.messages[0]


def test_a_member_that_commits_each_order_has_not_waited_for_its_listener():
    first, *rest = story_of_5()
    often = [commit(P.day_5["group"], P.day_5["topic"], 0, n, P.careful) for n in range(1, 9)]
    found = told("committed_in_time", [first, *often, *rest])
    assert found.outcome is Outcome.PART
    assert "committed more often" in found.messages[0]


def test_what_was_not_packed_before_needs_no_commit_before():
    def at(one):
        return 100 if one.partition == 0 and one.offset < 5 else MOVED_AT + 1

    kept = packed(HANDED, lambda _: P.careful, P.day_5["group"], at)
    assert judged("committed_in_time", {P.day_5["results"]: kept}).outcome is Outcome.PASS
    later = packed(HANDED, lambda _: P.careful, P.day_5["group"], lambda _: MOVED_AT + 1)
    (said,) = judged("committed_in_time", {P.day_5["results"]: later}).messages
    assert "nothing had been packed" in said


@pytest.mark.parametrize("said", [TOLD[:-1], TOLD[::-1], [*TOLD, *TOLD], [("assigned", WHOLE)]])
def test_a_listener_that_was_told_something_else(said):
    assert judged("listener_is_told", said={"told_5": said}).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("story", "words"),
    [
        (story_of_6(again="first-1"), "nobody came back"),
        (story_of_6(generation=3), "generation 2 became 3"),
        (story_of_6(name=None), "nobody came back"),
        ([share(P.day_6, SEATS)], "never had two static members"),
    ],
)
def test_a_seat_that_was_not_kept(story, words):
    found = told("seat_is_kept", story)
    assert of_check(CHECKS["seat_is_kept"], found).reached == 0
    assert words in found.messages[-1]
