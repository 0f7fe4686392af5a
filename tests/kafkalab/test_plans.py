"""The diagrams of boxes and arrows, and those of what a log keeps: what they say and connect."""

import itertools
from types import SimpleNamespace as Namespace

import matplotlib as mpl
import pytest
from matplotlib.patches import FancyBboxPatch

from kafkalab import CourseError, charts, diagrams
from kafkalab.diagrams import concepts
from kafkalab.views import (
    Configs,
    GroupView,
    MemberView,
    PartitionView,
    QuorumView,
    ReplicaView,
    TopicView,
)

pytestmark = pytest.mark.usefixtures("no_figure_stays")


def words(ax) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def arrows(ax) -> set[str]:
    """Without what tells boxes of the same text apart."""
    gids = [text.get_gid() for text in ax.texts if text.get_gid()]
    return {
        " -> ".join(end.partition("#")[0].partition("\n")[0] for end in gid.split(" -> "))
        for gid in gids
    }


def partition(number: int, leader: int | None, *isr: int) -> PartitionView:
    return PartitionView(number, leader, 0, [0, 1, 2], list(isr), [], [], 0, 10)


def group(name: str, **partitions: list[int]) -> GroupView:
    members = [
        MemberView(f"{client}-id", client, None, {"rides": theirs})
        for client, theirs in partitions.items()
    ]
    return GroupView(name, "STABLE", "classic", "range", 0, members, {}, {})


def record(offset: int, key: str, value: str | None, timestamp: int = 0) -> Namespace:
    return Namespace(
        offset=offset, key=key.encode(), value=value and value.encode(), timestamp=timestamp
    )


RECORDS = [
    record(0, "anna", "green", 0),
    record(1, "ben", "red", 1_000),
    record(2, "anna", "blue", 2_000),
    record(3, "cleo", "red", 3_000),
    record(4, "ben", None, 4_000),
    record(5, "dora", "gold", 5_000),
    record(6, "cleo", "pink", 6_000),
    record(7, "anna", "grey", 7_000),
]
CLUSTER = Namespace(
    brokers=[0, 1, 2],
    topic=lambda name: Namespace(records={"orders": 1_200, "clicks": 88_000}[name]),
)
QUORUM = QuorumView(
    100, 3, 1_240, [ReplicaView(100, 1_240, 0)], [ReplicaView(n, 1_239, 1) for n in (0, 1, 2)]
)
ADDRESSES = {number: f"127.0.0.1:909{number + 2}" for number in (0, 1, 2)}
TOPIC = TopicView("rides", "id", [partition(n, n % 2, 0, 1, 2) for n in range(4)], Configs())
WORK = {"thread 1": [(0, 1), (1, 0), (0, 3)], "thread 2": [(0, 2)]}
STATUS = {
    "name": "trucks",
    "type": "source",
    "tasks": [
        {"id": 0, "state": "RUNNING", "worker_id": "127.0.0.1:8083"},
        {"id": 1, "state": "FAILED", "worker_id": "127.0.0.1:8083"},
    ],
}
CHAIN = {
    "transforms": "hoist, insert",
    "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
    "transforms.insert.type": "org.apache.kafka.connect.transforms.InsertField$Value",
}

DRAWN = {
    "streaming": lambda: diagrams.streaming(
        CLUSTER, {"shop": "orders", "apps": "clicks"}, {"alerts": "orders"}, {"lake": "clicks"}
    ),
    "controllers": lambda: diagrams.controllers(QUORUM, ADDRESSES, asked=1),
    "regions": lambda: diagrams.regions("rides", partition(0, 1, 1, 2), {0: "a", 1: "b", 2: "c"}),
    "rebalance": lambda: diagrams.rebalance(
        "rides", group("g", a=[0, 1], b=[2, 3]), group("g", a=[0], b=[2, 3], c=[1], d=[])
    ),
    "cardinality": lambda: diagrams.cardinality(
        TOPIC, group("pair", a=[0, 1], b=[2, 3]), group("four", c=[0], d=[1], e=[2], f=[3])
    ),
    "shared consumer": lambda: diagrams.shared_consumer(WORK),
    "consumer per thread": lambda: diagrams.consumer_per_thread(
        {"thread 1": [(0, n) for n in range(9)], "thread 2": [(1, 0)]}
    ),
    "retention": lambda: diagrams.retention(
        [RECORDS[:3], RECORDS[3:6], RECORDS[6:]], now=7_000, milliseconds=3_000, size=40
    ),
    "compaction": lambda: diagrams.compaction(RECORDS, [RECORDS[4], RECORDS[7]]),
    "ecosystem": diagrams.ecosystem,
    "source": lambda: diagrams.connector(STATUS, CHAIN, "trucks.csv", "truck_position"),
    "sink": lambda: diagrams.connector({**STATUS, "type": "sink"}, {}, "a file", "truck_position"),
    **{name: lambda name=name: diagrams.architecture(name) for name in concepts.ARCHITECTURES},
    **{f"{name} trucks": lambda name=name: diagrams.truck_stage(name) for name in concepts.STAGES},
}


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_is_covered_or_cut(name: str):
    ax = DRAWN[name]()
    figure = ax.figure
    figure.draw_without_rendering()
    texts = [text for text in ax.texts if text.get_text()]
    extents = {text.get_text(): text.get_window_extent() for text in texts}
    for text, extent in extents.items():
        inside = figure.bbox.x0 <= extent.x0 and extent.x1 <= figure.bbox.x1
        assert inside, f"{text!r} leaves the picture"
    for one, other in itertools.combinations(texts, 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent()), (one, other)
    boxes = [patch.get_window_extent() for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    assert len(boxes) >= 4
    for text in texts:
        middle = text.get_window_extent()
        for box in boxes:
            if box.contains((middle.x0 + middle.x1) / 2, (middle.y0 + middle.y1) / 2):
                assert box.x0 < middle.x0, f"{text.get_text()!r} is wider than its box"
                assert middle.x1 < box.x1, f"{text.get_text()!r} is wider than its box"
                assert middle.height <= box.height, f"{text.get_text()!r} is higher than its box"
    for arrow in ax.texts:
        if arrow.get_gid():
            head, tail = (ax.transData.transform(end) for end in (arrow.xy, arrow.xyann))
            for box in boxes:
                # The ends lie on the edges of their own boxes; what counts is the way between.
                for part in range(5, 96, 5):
                    x, y = tail + (head - tail) * part / 100
                    assert not box.contains(x, y), f"{arrow.get_gid()} runs through a box"


def test_a_description_becomes_boxes_arrows_and_frames():
    ax = diagrams.plan(
        [["a#1", "a#2"], ["b"]],
        [("a#1", "b", "sends"), ("b", "a#2"), ("a#1", "a#2")],
        frames={"both": ["a#1", "a#2"]},
    )
    assert words(ax) == ["both", "a", "a", "b", "sends"]
    gids = [text.get_gid() for text in ax.texts if text.get_gid()]
    assert gids == ["a#1 -> b", "b -> a#2", "a#1 -> a#2"]
    there, back, down = (text for text in ax.texts if text.get_gid())
    assert there.xyann[0] < there.xy[0]
    assert back.xyann[0] > back.xy[0]
    assert down.xyann[1] > down.xy[1]


def test_a_stream_goes_through_topics_with_what_they_hold_now():
    ax = DRAWN["streaming"]()
    assert {"cluster of 3 brokers", "topic orders\n1,200 records"} <= set(words(ax))
    assert {"alerts\nat once", "lake\nlater"} <= set(words(ax))
    assert arrows(ax) == {
        "shop -> topic orders",
        "apps -> topic clicks",
        "topic orders -> alerts",
        "topic clicks -> lake",
    }


def test_the_active_controller_feeds_the_brokers_and_the_client_asks_one():
    ax = DRAWN["controllers"]()
    assert "controller 100\nactive, epoch 3\nmetadata to 1,240" in words(ax)
    assert "broker 1\n127.0.0.1:9093\nmetadata to 1,239" in words(ax)
    assert arrows(ax) == {
        "a client -> broker 1",
        *(f"controller 100 -> broker {number}" for number in range(3)),
    }


def test_without_a_leader_of_the_quorum_nobody_is_fed():
    ax = diagrams.controllers(QuorumView(None, 4, 0, QUORUM.voters, []), ADDRESSES)
    assert arrows(ax) == set()
    assert "controller 100\nstandby\nmetadata to 1,240" in words(ax)
    assert "broker 0\n127.0.0.1:9092\nmetadata unknown" in words(ax)


def test_replication_stays_in_a_region_and_mirroring_leaves_it():
    ax = DRAWN["regions"]()
    assert "zone a\nbroker 0\nnot in sync" in words(ax)
    assert "zone b\nbroker 1\nleader" in words(ax)
    assert arrows(ax) == {"zone b -> zone a", "zone b -> zone c", "zone b -> another cluster"}


def test_what_changed_hands_in_a_rebalance_has_a_colour():
    ax = DRAWN["rebalance"]()
    assert {"before: 2 members", "after: 4 members"} <= set(words(ax))
    assert words(ax).count("b") == 2
    colours = {
        text.get_gid().partition("#")[0]: text.arrow_patch.get_edgecolor()
        for text in ax.texts
        if text.get_gid()
    }
    moved = mpl.colors.to_rgba("C1")
    assert {key for key, colour in colours.items() if colour == moved} == {
        "partition 1 -> a",
        "partition 1 -> c",
    }


def test_members_that_share_a_client_id_are_told_apart():
    view = group("g", a=[0], b=[1])
    same = [MemberView(f"x-{m.id}", "x", None, m.assignment) for m in view.members]
    both = GroupView("g", "STABLE", "classic", "range", 0, same, {}, {})
    assert {"x a-id", "x b-id"} <= set(words(diagrams.rebalance("rides", both, both)))


def test_each_partition_has_one_member_of_each_group():
    ax = DRAWN["cardinality"]()
    assert {"led by broker 0", "led by broker 1", "pair: 2 members", "four: 4 members"} <= set(
        words(ax)
    )
    assert arrows(ax) == {
        f"partition {number} -> {member}"
        for number, members in enumerate(("ac", "ad", "be", "bf"))
        for member in members
    }


def test_a_partition_that_several_threads_worked_on_is_seen():
    ax = DRAWN["shared consumer"]()
    assert "thread 1\npartition 0: 1, 3\npartition 1: 0" in words(ax)
    boxes = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    first, second = (mpl.colors.to_rgba(box.get_edgecolor()) for box in boxes[:2])
    assert first == mpl.colors.to_rgba("C1") != second
    ax = DRAWN["consumer per thread"]()
    assert "thread 1\npartition 0: 0, 1, 2, 3, …" in words(ax)
    assert "partition 1 -> consumer of thread 2" in arrows(ax)


def kept(ax) -> dict[str, list[str]]:
    """Row -> the values that are in it."""
    rows: dict[str, list[str]] = {}
    name = ""
    for text in words(ax)[1 + len(RECORDS) :]:
        if "\n" in text and not text.startswith("by "):
            rows[name].append(text.partition("\n")[2])
        else:
            name = text.partition("\n")[0]
            rows[name] = []
    return rows


def test_each_rule_of_retention_keeps_something_else():
    rows = kept(DRAWN["retention"]())
    last = ["pink", "grey"]
    assert rows["nothing deleted"] == ["green", "red", "blue", "red", "no value", "gold", *last]
    # The second file stays whole: one of its records is young enough.
    assert rows["by time:"] == ["red", "no value", "gold", *last]
    # Without the first file 36 bytes would be left, fewer than the 40 that were asked for.
    assert rows["by size:"] == rows["nothing deleted"]
    # The last file is not compacted, and does not count: "blue" and the first "red" of cleo stay.
    assert rows["by compaction"] == ["blue", "red", "no value", "gold", *last]


def test_compaction_leaves_offsets_empty():
    rows = kept(DRAWN["compaction"]())
    assert len(rows["before"]) == len(RECORDS)
    assert rows["after"] == ["no value", "grey"]


def test_a_connector_leads_from_outside_through_tasks_and_transforms():
    ax = DRAWN["source"]()
    assert arrows(ax) == {
        "trucks.csv -> task 0",
        "trucks.csv -> task 1",
        "task 0 -> hoist",
        "task 1 -> hoist",
        "hoist -> insert",
        "insert -> topic truck_position",
    }
    assert "task 1\nFAILED\non 127.0.0.1:8083" in words(ax)
    sink = diagrams.connector({**STATUS, "type": "sink"}, CHAIN, "a file", "truck_position")
    assert {"topic truck_position -> hoist", "insert -> task 0", "task 0 -> a file"} <= arrows(sink)


def test_the_architectures_differ_in_who_is_connected():
    assert "nightly import -> data lake" in arrows(DRAWN["batch"]())
    hub = concepts.HUB
    assert {f"{hub} -> stream consumer", f"{hub} -> data lake"} <= arrows(DRAWN["hub"]())
    assert "stream analytics -> dashboard, seconds old" in arrows(DRAWN["velocity"]())
    services = arrows(DRAWN["microservices"]())
    assert {f"order service -> {hub}", f"{hub} -> order service"} <= services
    assert not any("service -> payment service" in arrow for arrow in services)


def test_in_the_second_stage_nothing_reaches_kafka():
    direct, mqtt, connect = (arrows(DRAWN[f"{name} trucks"]()) for name in concepts.STAGES)
    assert "truck 11 -> Kafka topic truck_position" in direct
    assert not any("Kafka" in arrow for arrow in mqtt)
    assert "Connect: source task -> Kafka topic truck_position" in connect


def test_a_plan_that_does_not_exist_is_an_error_that_lists_the_known():
    with pytest.raises(CourseError, match="batch, hub, velocity, microservices"):
        diagrams.architecture("lambda")


def test_a_plan_becomes_a_picture_with_words():
    ax = diagrams.ecosystem()
    ax.set_title("Kafka's core is small")
    assert charts.show(ax, "Core in the middle.").text == "Core in the middle."
