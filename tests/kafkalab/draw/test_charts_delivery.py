"""Lost and extra records as bars: each count is there, zero too, and names do not collide."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from kafkalab import charts
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")


def test_each_partition_has_two_bars_with_their_numbers():
    frame = pd.DataFrame({"partition": [0, 1, 2], "lost": [0, 1_200, 3], "extra": [5, 0, 0]})

    ax = charts.lost_and_extra(frame)

    assert [bar.get_height() for bar in ax.patches] == [0, 1_200, 3, 5, 0, 0]
    assert words(ax) == ["0", "1,200", "3", "5", "0", "0"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "lost (1,203)",
        "extra (5)",
    ]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("partition", "records")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "2"]


def test_a_comparison_without_records_says_so():
    frame = pd.DataFrame({"partition": [], "lost": [], "extra": []})

    assert words(charts.lost_and_extra(frame)) == ["nothing to draw"]


def test_the_axes_of_the_caller_are_used():
    ax = plt.subplots()[1]

    assert charts.lost_and_extra(pd.DataFrame({"partition": [0], "lost": 1, "extra": 0}), ax) is ax


def test_each_run_has_a_chart_of_its_partitions_and_its_sums_as_title():
    runs = {
        "asked": pd.DataFrame({"partition": [0, 1], "lost": [0, 0], "extra": [1, 2]}),
        "led": pd.DataFrame({"partition": [1, 4], "lost": [1_500, 7], "extra": [0, 0]}),
        "once": pd.DataFrame({"partition": [2], "lost": [0], "extra": [3]}),
    }

    axes = charts.lost_and_extra_each(runs)

    assert [ax.get_title(loc="left") for ax in axes] == [
        "asked: 0 lost, 3 extra",
        "led: 1,507 lost, 0 extra",
        "once: 0 lost, 3 extra",
    ]
    assert [[bar.get_height() for bar in ax.patches] for ax in axes] == [
        [0, 0, 1, 2],
        [1_500, 7, 0, 0],
        [0, 3],
    ]
    assert [tick.get_text() for tick in axes[1].get_xticklabels()] == ["1", "4"]
    figure = axes[0].figure
    assert figure.axes == axes, "no empty one is left over"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["lost", "extra"]


def test_where_nothing_differs_there_is_no_chart():
    assert charts.lost_and_extra_each({}) == []
