"""The helpers of lesson 11: who has what, how far behind, and what its checks say."""

import logging
from types import SimpleNamespace as Namespace

import pandas
import pytest
from kafka.coordinator.base import MemberState

from kafkalab.errors import CourseError
from kafkalab.lessons import consumer_groups
from kafkalab.lessons.consumer_groups import Silence, Standing
from kafkalab.lessons.consumer_groups.logged import LOGGER
from kafkalab.members import Event
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")

BEFORE = {("red", 0): "Ada", ("red", 1): "Bob", ("red", 2): "Dan", ("blue", 0): "Ada"}
AFTER = {("red", 0): "Ada", ("red", 1): "Ada", ("red", 2): "Bob", ("blue", 0): "Bob"}


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def packer(name, *seconds):
    events = [Event("started", 0), *(Event("record", int(s * 1e9)) for s in seconds)]
    return Namespace(name=name, events=events)


def test_idle_members_are_counted_too():
    assert consumer_groups.counts(["Ada", "Bob", "Eve"], BEFORE) == {"Ada": 2, "Bob": 1, "Eve": 0}


def test_what_moved_without_need_is_what_its_reader_could_have_kept():
    assert consumer_groups.moved(BEFORE, AFTER) == [("blue", 0), ("red", 1)]
    assert consumer_groups.moved(BEFORE, BEFORE) == []


def group(state, **members):
    views = [
        Namespace(client=name, assignment={"red": held} if held else {})
        for name, held in members.items()
    ]
    return Namespace(
        topic=lambda _: Namespace(partitions=[0, 1, 2]),
        group=lambda _: Namespace(state=state, members=views),
    )


def test_owners_are_known_when_all_members_are_in_and_all_is_dealt_out():
    owners = consumer_groups.owners(group("STABLE", Ada=[0, 2], Bob=[1], Eve=[]), "red", 3)
    assert owners == {("red", 0): "Ada", ("red", 2): "Ada", ("red", 1): "Bob"}
    for halfway in (
        group("PREPARING_REBALANCE", Ada=[0, 2], Bob=[1], Eve=[]),
        group("STABLE", Ada=[0, 1, 2]),
        group("STABLE", Ada=[0], Bob=[1], Eve=[]),
    ):
        with pytest.raises(CourseError, match="3 members of red"):
            consumer_groups.owners(halfway, "red", 3, timeout=0.05)


def consumer(name, *partitions, generation=2, state=MemberState.STABLE):
    return Namespace(
        group_metadata=lambda: Namespace(generation_id=generation, state=state),
        poll=lambda **_: {},
        config={"client_id": name},
        assignment=lambda: [Namespace(topic="red", partition=number) for number in partitions],
    )


def test_a_group_is_settled_when_each_partition_has_one_reader():
    teams = {"a": [consumer("Ada", 0, 1), consumer("Bob", 2)]}
    settled = consumer_groups.settle(teams, partitions=3)
    assert settled == {"a": {("red", 0): "Ada", ("red", 1): "Ada", ("red", 2): "Bob"}}
    for halfway in (
        [consumer("Ada", 0, 1), consumer("Bob")],  # one has none yet
        [consumer("Ada", 0, 1), consumer("Bob", 1, 2)],  # one is not yet let go
        [consumer("Ada", 0, 1, 2), consumer("Bob", generation=-1)],  # the first is alone so far
        [consumer("Ada", 0, 1, 2, generation=1), consumer("Bob")],  # and has not heard of the next
        [
            consumer("Ada", 0, 1, 2, state=MemberState.REBALANCING),
            consumer("Bob"),
        ],  # nor what it keeps
    ):
        with pytest.raises(CourseError, match="partitions for each group"):
            consumer_groups.settle({"a": halfway}, partitions=3, timeout=0.05)


def test_the_picture_names_each_reader_and_each_topic_without_the_number_of_the_run():
    again = {("red-2" if topic == "red" else topic, n): who for (topic, n), who in AFTER.items()}
    ax = consumer_groups.who_has_what({"range": again})
    assert sorted(words(ax)) == ["Ada", "Ada", "Bob", "Bob"]
    assert ticks(ax.yaxis) == ["range"]
    assert ticks(ax.xaxis) == ["blue\n0", "red\n0", "red\n1", "red\n2"]


def test_of_one_topic_the_partitions_have_numbers_alone():
    ax = consumer_groups.who_has_what({"1 member": {("red", 0): "Ada", ("red", 1): "Ada"}})
    assert ticks(ax.xaxis) == ["0", "1"]
    assert words(ax) == ["Ada", "Ada"]


def test_a_story_counts_from_what_lies_there_at_its_start():
    ends = [Namespace(end_offset=5), Namespace(end_offset=7), Namespace(end_offset=None)]
    commits = {("red", 0): 4, ("blue", 0): 9}
    cluster = Namespace(
        topic=lambda _: Namespace(partitions=ends),
        group=lambda _: Namespace(offsets=commits),
    )
    story = consumer_groups.Story(cluster, "red")
    ends[1].end_offset = 9
    story.look()
    commits["red", 1] = 9
    assert story.look().seconds >= story.seen[0].seconds
    told = [(one.end, one.committed, one.lag) for one in story.seen]
    assert told == [(0, -8, 8), (2, -8, 10), (2, 1, 1)]


def test_the_chart_of_the_lag_names_the_largest():
    story = [Standing(0, 0, 0), Standing(1, 900, 20), Standing(4, 900, 900)]
    assert [one.lag for one in story] == [0, 880, 0]
    assert {"lag 880", "all sent"} <= set(words(consumer_groups.lag_over_time(story, sent=1)))


def test_a_silence_counts_only_where_nobody_had_a_record():
    ada, bob = packer("Ada", 1, 6), packer("Bob", 2, 5)
    ada.events.insert(2, Event("commits", int(1.5e9)))
    silence = consumer_groups.longest_silence([ada, bob])
    assert silence == Silence(int(2e9), int(5e9), {"Ada": "commits", "Bob": "record"})
    assert silence.seconds == 3


def test_the_chart_of_records_counts_from_the_fault():
    ax = consumer_groups.records_over_time([packer("Ada", 1, 6)], int(2e9), broker=1)
    assert words(ax) == ["broker 1 killed"]
    assert ax.lines[0].get_xydata().tolist() == [[-1, 1], [4, 2]]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("BB", 2112),
        ("hello", 99_162_322),
        ("polygenelubricants", -(2**31)),
        ("\N{GRINNING FACE}", 0xD83D * 31 + 0xDE00),
    ],
)
def test_the_hash_is_javas(text, number):
    assert consumer_groups.java_hash(text) == number


def test_a_wrong_coordinator_is_told_apart():
    brokers = {"kitchen": 2, "audit": 0}
    cluster = Namespace(coordinator=lambda group: brokers[group])
    problem = consumer_groups.coordinators_of(cluster, brokers)
    assert problem({"kitchen": 2, "audit": 0}) == ""
    assert problem({"kitchen": 1, "audit": 0}) == "the brokers say otherwise of kitchen."
    assert "kitchen, audit as keys" in problem({"kitchen": 2})
    assert "kitchen, audit as keys" in problem(2)


def test_records_by_member_and_partition_are_a_heat_map():
    rows = [("Ada", 0)] * 3 + [("Bob", 1)]
    ax = consumer_groups.records_by_member(pandas.DataFrame(rows, columns=["member", "partition"]))
    assert words(ax) == ["3", "0", "0", "1"]
    assert (ticks(ax.yaxis), ticks(ax.xaxis)) == (["Ada", "Bob"], ["0", "1"])


def test_a_wrong_lag_is_told_apart():
    cluster = Namespace(group=lambda _: Namespace(lag={("red", 0): 5, ("red", 1): 0}))
    problem = consumer_groups.lag_of(cluster, "red")
    assert problem({0: 5, 1: 0}) == ""
    assert "[0, 1] as keys" in problem({0: 5})
    assert "[0, 1] as keys" in problem(5)
    assert problem({0: 4, 1: 0}).endswith("of partition 0.")


def test_what_was_dealt_out_before_a_fault_is_not_counted():
    given = {"partitions": [["red", 0]]}
    team = [Namespace(events=[Event("assigned", 1, given), Event("assigned", 9, given)])]
    assert consumer_groups.dealt_since(team, 5) == 1
    assert consumer_groups.dealt_since(team, 9) == 0


def working(name, *events):
    return Namespace(name=name, events=[Event(what, at, facts) for what, at, facts in events])


def test_what_was_packed_twice_is_one_order_and_the_waits_for_commits_are_a_share():
    place = {"partition": 0, "offset": 7}
    ada = working(
        "Ada",
        ("record", 1, place),  # before
        *(("record", 10, place), ("commits", 11, {}), ("polls", 15, {})),
        *(("record", 20, place), ("commits", 21, {})),  # which did not end
    )
    bob = working("Bob", ("record", 12, {"partition": 1, "offset": 7}))
    assert consumer_groups.packed_since([ada, bob], 5) == 2
    assert consumer_groups.share_in_commits([ada, bob], 5) == 0.4
    assert consumer_groups.share_in_commits([bob], 5) == 0


def test_only_who_has_ended_is_hired_again(monkeypatch):
    hired = []

    def start(lines, name, **given):
        hired.append((lines, name, given["topic"]))
        return Namespace(state="running")

    monkeypatch.setattr("kafkalab.lessons.consumer_groups.packing.start", start)
    team = {"Ada": Namespace(state="ended"), "Bob": Namespace(state="running")}
    bob = team["Bob"]
    cluster = group("STABLE", Ada=[0, 2], Bob=[1])
    cluster.address = "here"
    consumer_groups.rehire("lines", team, cluster, "red")
    assert hired == [("lines", "Ada", "red")]
    assert team["Bob"] is bob
    assert team["Ada"].state == "running"


def test_the_lines_of_the_newest_join_are_kept_with_their_levels(caplog):
    own, of_kafka = logging.getLogger("kafka.coordinator.consumer"), logging.getLogger(LOGGER)
    before = of_kafka.level, of_kafka.propagate
    with consumer_groups.logged("chairs") as logged:
        own.info("(Re-)joining group %s", "tables")
        assert not logged.lines, "of another group"
        for number, given in ((1, set()), (2, {0})):
            own.info("(Re-)joining group %s", "chairs")
            own.info("Successfully joined group chairs <Generation %s>", number)
            own.info("Elected group leader -- performing partition assignments using range")
            own.info("Setting newly assigned partitions %s for group chairs", given)
            assert not logged.complete
            own.debug("Sending heartbeat for group chairs")
            own.debug("Sending heartbeat for group chairs again")
            assert logged.complete == bool(given), "the first was given nothing yet"
    assert logged.complete
    assert logged.lines["Successfully joined group"] == (
        "INFO",
        "Successfully joined group chairs <Generation 2>",
    )
    assert [level for level, _ in logged.lines.values()] == ["INFO"] * 4 + ["DEBUG"]
    shown = repr(logged).splitlines()
    assert "is to deal, for all members" in shown[3]
    assert shown[3].startswith("INFO")
    assert not caplog.records, "none is shown beside the table"
    assert (of_kafka.level, of_kafka.propagate) == before
