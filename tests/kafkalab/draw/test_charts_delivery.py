"""Lost and extra records of runs, on one scale: each count is there, zero too."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from kafkalab import charts
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")

COLUMNS = ["run", "partition", "sent", "lost", "extra"]
TASKS = {
    "task 1": {"led": "acks=1", "copied": "yours"},
    "task 2": {"late": "commits late", "careful": "yours"},
}


def frame():
    rows = [
        ("late", 1, 150, 0, 3),
        ("late", 0, 150, 0, 150),
        ("led", 0, 2_000, 1_000, 0),
        ("led", 3, 2_000, 2_000, 0),
        ("copied", 0, 300, 0, 0),
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_lost_goes_to_the_left_and_extra_to_the_right_in_percent_of_what_was_sent():
    ax = charts.lost_and_extra(frame(), TASKS)

    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [
        (0, -25),
        (-25, -50),
        (0, 50),
        (50, 1),
    ], "each bar goes on where the partition before it ended"
    rows = [round(bar.get_y() + bar.get_height() / 2, 2) for bar in ax.patches]
    assert rows[0] == rows[1] < rows[2] == rows[3]


def test_a_row_says_its_count_and_a_part_its_partition_where_there_is_room():
    ax = charts.lost_and_extra(frame(), TASKS)

    said = words(ax)
    assert said[:7] == ["0", "3", "3,000", "0", "0", "153", "not run"]
    assert said[7:] == ["task 1", "task 2", "← lost", "extra →"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [
        "acks=1",
        "yours",
        "commits late",
        "yours",
    ]


def test_one_task_stands_apart_from_the_next():
    ax = charts.lost_and_extra(frame(), TASKS)

    first, second, third, fourth = ax.get_yticks()
    assert second - first == fourth - third < third - second


def test_without_runs_it_says_so():
    assert words(charts.lost_and_extra(frame()[:0], TASKS)) == ["nothing to draw"]
    assert words(charts.lost_and_extra(frame(), {})) == ["nothing to draw"]


def test_the_axes_of_the_caller_are_used():
    ax = plt.subplots()[1]

    assert charts.lost_and_extra(frame(), TASKS, ax) is ax
