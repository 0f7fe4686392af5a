"""The drawings of data that come back in many lessons: each takes a DataFrame, returns the Axes.

    ax = charts.records_per_partition(read_topic(spark, cluster, "rides"))
    ax.set_title(f"All {count} records of one key lie in partition {partition}")
    charts.show(ax, "The same in words, for those who cannot see it.")

A DataFrame is Spark's or pandas'. Counting is done where the data is, so Spark counts its own. The
title is left to the cell: it says what was found, and only the cell knows that. Importing this
module gives every matplotlib figure the look of the course.

`marks` are moments with what happened then, such as {"broker 1 killed": time.time()}. They are of
the kind that the time column has; for one of dates, seconds since 1970 will do as well.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from kafkalab.draw.charts.common import (
    COLOURS,
    latency_distribution,
    records_per_partition,
    records_per_second,
    scatter_by_class,
    timeline,
)
from kafkalab.draw.charts.delivery import lost_and_extra
from kafkalab.draw.picture import show

__all__ = [
    "COLOURS",
    "latency_distribution",
    "lost_and_extra",
    "records_per_partition",
    "records_per_second",
    "scatter_by_class",
    "show",
    "timeline",
]

STYLE = Path(__file__).with_name("kafkalab.mplstyle")
plt.style.use(STYLE)
