"""The helpers of lesson 12: who has what, what stood still, and what its exercises say."""

import time
from collections.abc import Iterator
from types import SimpleNamespace as Namespace

import pytest
from kafka import KafkaAdminClient

from kafkalab import Cluster, CourseError, members, quick
from kafkalab.lessons import rebalancing
from kafkalab.lessons.rebalancing import GroupChange, Read
from kafkalab.members import Event
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")

SECOND = 1_000_000_000
PROGRAM = """
from confluent_kafka import Consumer
consumer = Consumer({"bootstrap.servers": address, "group.id": topic, **settings})
told_by = {"on_assign": told.on_assign, "on_revoke": told.on_revoke, "on_lost": told.on_lost}
consumer.subscribe([topic], **told_by)
while running():
    record = consumer.poll(0.1)
    if record is not None and not record.error():
        note("record", partition=record.partition(), offset=record.offset())
consumer.close()
"""


def told(what, *partitions, at=0):
    return Event(what, at, {"partitions": [["red", number] for number in partitions]})


def member(*events, state="running"):
    return Namespace(events=list(events), state=state)


def arranged():
    """Bob is at work from 1 s to 8 s; Dan comes; partition 3 moves from Cleo to him."""
    at = {
        0: [("Ada", 0.9), ("Ada", 1.1), ("Ada", 9)],
        1: [("Ada", 0.8), ("Ada", 1.2), ("Ada", 2)],
        2: [("Bob", 1), ("Bob", 8)],
        3: [("Cleo", 1), ("Cleo", 2), ("Dan", 5)],
    }
    return GroupChange(
        "Dan comes",
        began=SECOND,
        ended=10 * SECOND,
        before={"eager": {0: "Ada", 1: "Ada", 2: "Bob", 3: "Cleo"}},
        after={"eager": {0: "Ada", 1: "Ada", 2: "Bob", 3: "Dan"}},
        busy={"eager": {"Bob"}},
        records={
            "eager": [
                Read(int(seconds * SECOND), name, partition)
                for partition, reads in at.items()
                for name, seconds in reads
            ]
        },
        started={"eager": {"Dan": 3 * SECOND}},
    )


def test_what_a_member_has_is_what_it_was_given_less_what_was_taken():
    events = [told("assigned", 0, 1, 2), told("revoked", 1), told("assigned"), told("lost", 0)]
    assert rebalancing.partitions_of(events) == {2}
    team = {"Ada": member(*events), "Bob": member(told("assigned", 5), state="frozen")}
    assert rebalancing.having(team) == {2: "Ada"}


def test_a_group_has_settled_when_so_many_share_all():
    ada, bob = member(told("assigned", 0, 1)), member(told("assigned", 2))
    settled = rebalancing.settled({"eager": {"Ada": ada, "Bob": bob}}, members=2, partitions=3)
    assert settled == {"eager": {0: "Ada", 1: "Ada", 2: "Bob"}}
    for teams in ({"eager": {"Ada": ada}}, {"eager": {"Ada": ada, "Bob": member()}}):
        with pytest.raises(CourseError, match="3 partitions among 2"):
            rebalancing.settled(teams, members=2, partitions=3, timeout=0.05)


def test_a_standstill_is_the_longest_silence_of_a_partition_whoever_reads_it():
    change = arranged()
    assert change.stood("eager") == pytest.approx({0: 7.9, 1: 0.8, 2: 7, 3: 3})
    assert change.moved("eager") == [3]
    assert change.of_busy("eager") == [2]
    assert change.kept("eager") == [0, 1]
    assert change.standing_of_others("eager", seconds=2) == [0, 3]  # not the busy one's
    story = "eager: partition 3 from Cleo to Dan, stood 3.0 s (busy: Bob)"
    assert change.story("eager") == story
    (row,) = rebalancing.standstills([change]).itertuples()
    assert (row.kept, row.moved) == pytest.approx((7.9, 3))
    assert change.longest("eager", [1, 2]) == 7
    assert change.longest("eager", []) != change.longest("eager", [])  # NaN


def test_the_picture_of_records_has_a_stroke_for_each():
    ax = rebalancing.records_by_partition(arranged(), ["eager"])
    assert words(ax) == [" Dan's program starts"]
    strokes = sorted(float(line[0, 0]) for drawn in ax.collections for line in drawn.get_segments())
    assert strokes == pytest.approx(
        [-0.2, -0.1, 0, 0, 0.1, 0.2, 1, 1, 4, 7, 8]
    )  # seconds since it began
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "1", "2", "3"]


def test_titles_are_what_was_found(capsys):
    change = arranged()
    rebalancing.show_standing(change, "eager", [0, 3])
    title = "Eager: 2 of 3 partitions of free packers stand, for up to 7.9 s. "
    assert capsys.readouterr().out.startswith(title)
    rebalancing.show_standing(change, "eager", [])
    assert capsys.readouterr().out.startswith("Eager: 0 of 3 partitions of free packers stand. ")
    bye = change.what
    change.what = "a death"
    table = rebalancing.standstills([arranged(), change])
    rebalancing.show_standstills(table, 4, bye)
    title = "Good-byes cost up to 3.0 s, deaths and freezes 3.0 s or more. "
    assert capsys.readouterr().out.startswith(title)


def test_the_picture_of_standstills_has_a_ring_and_a_dot():
    ax = rebalancing.standstill_by_group(rebalancing.standstills([arranged()]), session=4)
    assert words(ax) == [" session"]
    places = {line.get_markerfacecolor(): line.get_xdata()[0] for line in ax.lines[1:3]}
    assert sorted(places.values()) == pytest.approx([3, 7.9])
    assert places["none"] == pytest.approx(7.9)
    nobody_else = arranged()
    nobody_else.after = nobody_else.before
    ax = rebalancing.standstill_by_group(rebalancing.standstills([nobody_else]), session=4)
    assert sorted(words(ax)) == ["    nobody free gave", " session"]


def packer(*what, offsets=()):
    events = [Event(one, 0, {"offsets": list(offsets)}) for one in what]

    def wait_for(condition, **_):
        assert condition(events)

    return Namespace(events=events, stop=lambda: None, wait_for=wait_for)


def test_a_batch_that_is_too_large_is_told_with_what_it_cost():
    def told_by(what, orders):
        one = packer(what, offsets=range(orders))
        return rebalancing.refused_with(lambda _: one, orders, seconds=0.1, limit=2)

    problem = told_by("refused", orders=2)
    assert problem(5) == "after 2 orders the commit was refused."
    assert "a number" in problem("five")
    assert "a number" in problem(True)
    assert told_by("committed", orders=1)(1) == ""
    lucky = told_by("committed", orders=21)
    assert lucky(21) == "they take 2.1 s, and he may be away for 2 s: that was luck."
    assert lucky(19) == ""


def test_a_fence_is_known_by_its_words():
    other = Event("error", 0, {"says": "Broker: Unknown member"})
    fence = Event("error", 0, {"says": "Static consumer fenced by other consumer"})
    assert rebalancing.fence_of([other]) is None
    assert rebalancing.fence_of([other, fence]) == "Static consumer fenced by other consumer"


def test_who_is_put_out_is_who_was_fenced_since_the_newcomer_came():
    fence = Event("error", 0, {"says": "Static consumer fenced by other consumer"})
    eve, finn = packer("assigned"), packer("assigned")
    finn.events.append(fence)  # of an earlier run

    def takes_the_seat():
        eve.events.append(Event("error", time.monotonic_ns(), fence.facts))
        return packer("assigned")

    def is_refused():
        one = packer()
        one.events.append(Event("error", time.monotonic_ns(), fence.facts))
        return one

    team = {"Eve": eve, "Finn": finn}
    refused = rebalancing.fenced_by(is_refused, "Gus", team)
    assert refused("Gus") == ""
    assert refused("Eve") == "Eve works on, and another was put out."
    taken = rebalancing.fenced_by(takes_the_seat, "Gus", team)
    assert taken("Eve") == ""
    assert taken("Gus") == "Gus works on, and another was put out."
    assert "one of Eve, Finn, Gus" in taken("Ada")
    with pytest.raises(CourseError, match="fenced"):
        rebalancing.fenced_by(lambda: packer("assigned"), "Gus", team, timeout=0.05)("Gus")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster.start("single") as cluster:
        yield cluster


@pytest.mark.cluster
def test_a_change_is_measured_in_a_group_of_kip_848(cluster):
    topic = cluster.unused("red")
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"num_partitions": 4}})
    cluster.wait_for_topic(topic)
    given = {"address": cluster.address, "topic": topic}
    crowd = rebalancing.customers(cluster, topic, partitions=4)
    assert crowd.state == "frozen"

    def start(name, _="red"):
        return members.start(PROGRAM, name, settings={"group.protocol": "consumer"}, **given)

    teams = {"red": {"Ada": start("Ada"), "Bob": start("Bob")}}
    rebalancing.settled(teams, members=2, partitions=4)
    rebalancing.wait_for_members(cluster, [topic], members=2, timeout=5)
    with rebalancing.change(teams, "Bob is killed", crowd=crowd, members=1) as dies:
        teams["red"]["Bob"].kill()
    assert crowd.state == "frozen"
    assert len(dies.moved("red")) == len(dies.kept("red")) == 2
    assert set(dies.after["red"].values()) == {"Ada"}
    stood = dies.stood("red")
    assert min(stood[p] for p in dies.moved("red")) > 2.5  # a session of 4 s, less a heartbeat
    assert rebalancing.told_since(teams["red"]["Ada"], dies.began) >= 1
    teams["red"]["Dan"] = start("Dan")
    dan = teams["red"]["Dan"]
    rebalancing.fill_up(teams, start, members=2, partitions=4, without=["Dan"])
    assert dan.state == "ended"
    assert list(teams["red"]) == ["Ada", "Bob"]
    with rebalancing.change(teams, "Bob restarts", crowd=crowd, members=2) as restarts:
        teams["red"]["Bob"].stop()
        away = time.monotonic_ns()
        teams["red"]["Bob"] = start("Bob")
    first = min(one.at for one in restarts.records["red"] if one.at > away and one.member == "Bob")
    assert any(one.member == "Bob" and one.at < away for one in restarts.records["red"])
    his = [p for p, reader in restarts.before["red"].items() if reader == "Bob"]
    assert restarts.stood_of("red", "Bob") == max(restarts.stood("red")[p] for p in his)
    assert restarts.started["red"]["Bob"] < first
    for one in (*teams["red"].values(), crowd):
        one.stop()
