"""The drawings of lesson 06, and what is said of wrong answers to its exercises."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from kafkalab.cluster.views import Configs, PartitionView, TopicView
from kafkalab.lessons import replication

pytestmark = pytest.mark.usefixtures("no_figure_stays")

LISTS = [[2, 0, 1], [0, 1, 2], [1, 2, 0], [2, 1, 0]]


def in_sync() -> TopicView:
    partitions = [
        PartitionView(number, brokers[0], 0, brokers, brokers, [], [], 0, 0)
        for number, brokers in enumerate(LISTS)
    ]
    return TopicView("orders", "id", partitions, Configs())


def looks(*rows: tuple[float, int, int | None, int]) -> pd.DataFrame:
    """Seconds, partition, leader, in-sync replicas; the watch began at 100."""
    table = pd.DataFrame(rows, columns=["seconds", "partition", "leader", "in_sync"])
    return table.assign(began=100.0)


def test_a_strip_changes_its_shade_with_the_leader_and_marks_stand_where_records_were_read() -> (
    None
):
    seen = looks(
        (0, 0, 0, 3), (0, 1, 1, 3), (1, 0, None, 3), (1, 1, 1, 3), (3, 0, 1, 2), (3, 1, 1, 2)
    )
    reads = pd.DataFrame({"partition": [0, 1, 1], "read_at": [100.5, 102.0, 200.0]})
    top = replication.through_a_kill(seen, reads, killed=101.0)
    strips = [
        [(path.get_extents().x0, path.get_extents().width) for path in one.get_paths()]
        for one in top.collections
    ]
    assert strips == [[(-1, 1)], [(2, 0)], [(-1, 3)]]
    (marks, *_) = top.lines
    assert list(marks.get_xdata()) == [-0.5, 1.0]  # the last is outside of what was watched
    _, bottom = plt.gcf().axes
    assert list(bottom.lines[0].get_ydata()) == [3, 3, 2]
    words = [text.get_text() for text in plt.gcf().legends[0].get_texts()]
    assert words == ["broker 0 leads", "broker 1 leads", "a record is read"]


def test_without_a_look_there_is_nothing_to_draw() -> None:
    ax = replication.through_a_kill(
        looks(), pd.DataFrame({"partition": [], "read_at": []}), killed=1.0
    )
    assert ax.texts[0].get_text() == "nothing to draw"


def test_the_leaders_that_a_reader_says_are_compared_with_the_lists() -> None:
    right = {0: 2, 1: 0, 2: 2, 3: 2}
    assert replication.not_the_leaders(in_sync(), lost=1, said=right) == ""
    assert "partition 2 is missing" in replication.not_the_leaders(
        in_sync(), lost=1, said={0: 2, 1: 0, 3: 2}
    )
    assert "[1, 2, 0]" in replication.not_the_leaders(in_sync(), lost=1, said={**right, 2: 0})


@pytest.mark.parametrize(
    ("said", "why"), [(47, ""), (40, "not in sync"), (50, "broker 2"), (3, "one of the copies")]
)
def test_the_high_watermark_that_a_reader_says(said: int, why: str) -> None:
    told = replication.not_the_mark(said)
    assert bool(told) == bool(why)
    assert why in told
