from types import SimpleNamespace as Namespace

import pytest

from kafkalab import diagrams
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")


def test_a_record_shows_what_was_given_and_what_was_added():
    one = Namespace(
        key=b"amsterdam",
        value=b"21.5",
        headers=[("place", b"roof")],
        timestamp=1_000,
        partition=2,
        offset=7,
    )
    shown = words(diagrams.record(one))
    assert shown[0::2] == ["amsterdam", "21.5", "place=roof", "00:00:01.000", "2", "7"]
    assert shown[1::2] == ["key", "value", "headers", "timestamp", "partition", "offset"]


def test_a_part_that_was_left_out_is_named_as_missing():
    bare = Namespace(key=None, value=b"21.5", headers=[], timestamp=0, partition=0, offset=0)
    shown = words(diagrams.record(bare))
    assert (shown[0], shown[4]) == ("none", "none")


def test_each_partition_stands_with_its_leader():
    partitions = [Namespace(partition=0, leader=1), Namespace(partition=1, leader=0)]
    cluster = Namespace(brokers=[0, 1], topic=lambda name: Namespace(partitions=partitions))
    shown = words(diagrams.brokers(cluster, "rides", asked=0, kept=0))
    assert shown[:5] == ["broker 0", "partition 1", "broker 1", "partition 0", "client"]
    assert [word for word in shown[5:] if word] == ["1. who is in the cluster?", "2. the record"]


def test_a_log_stands_between_writers_and_readers_at_their_places():
    ax = diagrams.hub(["roof", "cellar"], ["21.5", "9.5", "22.0"], {"report": 1, "alarm": 3})
    shown = words(ax)
    assert shown[:8] == ["21.5", "0", "9.5", "1", "22.0", "2", "end", "3"]
    assert [word for word in shown[8:] if word] == [
        "roof",
        "cellar",
        "report reads 1 next",
        "alarm reads 3 next",
    ]


def a_topic_with_readers(*ends: int, **groups: dict[int, int]) -> Namespace:
    partitions = [
        Namespace(partition=number, start_offset=0, end_offset=end)
        for number, end in enumerate(ends)
    ]
    return Namespace(
        topic=lambda name: Namespace(partitions=partitions),
        group=lambda name: Namespace(
            offsets={("rides", number): place for number, place in groups[name].items()}
        ),
    )


def test_readers_stand_at_the_offset_that_they_read_next():
    cluster = a_topic_with_readers(3, 1, a={0: 2, 1: 1}, b={0: 3})
    shown = words(diagrams.readers(cluster, "rides", ["a", "b"]))
    assert shown[:7] == ["partition 0", "0", "1", "2", "3", "producer", "a: 2"]
    assert shown[7:] == ["b: 3", "partition 1", "0", "1", "producer", "a: 1"]


def test_of_a_long_partition_only_the_end_is_drawn():
    cluster = a_topic_with_readers(1_000, a={0: 10})
    shown = words(diagrams.readers(cluster, "rides", ["a"]))
    assert (shown[1], shown[-2], shown[-1]) == ("974", "1000", "producer")


def partition(number: int, replicas: list[int], leader: int | None, isr: list[int]) -> Namespace:
    return Namespace(partition=number, replicas=replicas, leader=leader, isr=isr)


def test_each_copy_shows_its_place_in_the_list_and_whether_it_is_in_sync():
    before = Namespace(partitions=[partition(0, [1, 0], 1, [1, 0]), partition(1, [0], 0, [0])])
    after = Namespace(partitions=[partition(0, [1, 0], 0, [0]), partition(1, [0], 0, [0])])
    ax = diagrams.replicas({"before": before, "after": after})
    shown = words(ax)
    first = shown.index("before")
    assert shown[first : shown.index("after")] == [
        *("before", "0", "1"),
        *("broker 0", "2", "1"),
        *("broker 1", "1"),  # it has no copy of partition 1
    ]
    assert shown[-3:] == ["leader", "in sync", "not in sync"]
    dotted = [patch for patch in ax.patches if patch.get_linestyle() == ":"]
    assert len(dotted) == 2  # broker 1 in the second block, and the key


def test_offsets_above_the_high_watermark_look_different():
    ax = diagrams.offsets({"leader": 5, "follower": 3}, 3, {"position": 3, "committed": 1})
    shown = words(ax)
    assert [text for text in shown if text.isdigit()] == list("01234") + list("012")
    assert {"log end 5", "log end 3", "high watermark 3", "position 3", "committed 1"} <= {*shown}
    colours = [patch.get_edgecolor() for patch in ax.patches[:5]]
    assert colours[0] == colours[2] != colours[3] == colours[4]


def test_of_a_long_log_only_the_end_is_drawn():
    shown = words(diagrams.offsets({"leader": 5_000, "follower": 4_995}, 4_995))
    assert "4999" in shown
    assert sum(text.isdigit() for text in shown) < 60
