"""How views read: one-line captions, tables with numbers to the right, honest gaps."""

import pytest

from kafkalab import CourseError, tables
from kafkalab.cluster.views import (
    Configs,
    ConfigValue,
    GroupView,
    MemberView,
    PartitionView,
    QuorumView,
    ReplicaView,
    TopicView,
)

CONFIGS = Configs(
    {
        "retention.ms": ConfigValue("60000", "DYNAMIC_TOPIC_CONFIG"),
        "num.partitions": ConfigValue("9", "STATIC_BROKER_CONFIG"),
        "cleanup.policy": ConfigValue("delete", "DEFAULT_CONFIG"),
    }
)


def partition(number: int, end: int | None, elr: list[int] | None = None) -> PartitionView:
    return PartitionView(
        number, None if end is None else 1, 3, [1, 2], [1], elr or [], [], 0 if end else None, end
    )


def test_a_table_puts_numbers_to_the_right_and_shows_gaps() -> None:
    text = tables.text(("name", "size"), [("a", 1), ("long name", 12345), ("c", None)])
    assert text.splitlines() == [
        "name         size",
        "a               1",
        "long name  12,345",
        "c               —",
    ]


def test_html_is_escaped_and_aligned() -> None:
    html = tables.html("<b>", ("x", "n"), [("<script>", 1)])
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;b&gt;" in html
    assert '<td style="text-align: right' in html


def test_a_topic_reads_as_a_caption_and_a_line_per_partition() -> None:
    topic = TopicView("rides", "id", [partition(0, 1200), partition(1, 34)], CONFIGS)
    assert repr(topic).splitlines() == [
        "topic rides (retention.ms=60000)",
        "partition  leader  epoch  replicas  in sync  start    end",
        "        0       1      3  1, 2      1            0  1,200",
        "        1       1      3  1, 2      1            0     34",
    ]
    assert topic.records == 1234
    assert topic._repr_html_().count("<tr>") == 3


def test_eligible_leaders_show_where_there_are_any() -> None:
    topic = TopicView("rides", "id", [partition(0, 5, elr=[2])], CONFIGS)
    assert "eligible" in repr(topic)


def test_records_that_nobody_can_count_are_not_counted() -> None:
    topic = TopicView("rides", "id", [partition(0, 5), partition(1, None)], CONFIGS)
    assert topic.partitions[1].records is None
    with pytest.raises(CourseError, match="No leader answers for partition 1"):
        _ = topic.records


def test_configs_show_what_somebody_chose() -> None:
    assert set(CONFIGS.chosen) == {"retention.ms", "num.partitions"}
    assert "cleanup.policy" not in repr(CONFIGS)
    assert "2 of 3 settings have a chosen value" in repr(CONFIGS)
    assert str(CONFIGS["num.partitions"]) == "9 (STATIC_BROKER_CONFIG)"


def test_a_group_shows_who_reads_what_and_how_far_behind() -> None:
    group = GroupView(
        name="billing",
        state="STABLE",
        type="classic",
        protocol="range",
        coordinator=2,
        members=[MemberView("id-1", "reader", None, {"rides": [0, 1]})],
        offsets={("rides", 0): 7},
        end_offsets={("rides", 0): 10, ("rides", 1): 4},
    )
    assert group.lag == {("rides", 0): 3}
    assert group.total_lag == 3
    assert repr(group).splitlines() == [
        "group billing: STABLE, 1 member, range, coordinator 2",
        "topic  partition  committed  end  lag  member",
        "rides          0          7   10    3  reader",
        "rides          1          —    4    —  reader",
    ]


def test_the_quorum_names_voters_and_observers() -> None:
    quorum = QuorumView(100, 4, 1500, [ReplicaView(100, 1500, 0)], [ReplicaView(1, 1498, 2)])
    assert repr(quorum).splitlines() == [
        "quorum: leader 100, epoch 4, high watermark 1,500",
        "node  role      log end  lag",
        " 100  voter       1,500    0",
        "   1  observer    1,498    2",
    ]
