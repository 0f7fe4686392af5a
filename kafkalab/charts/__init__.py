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

from kafkalab.charts.common import (
    COLOURS,
    latency_distribution,
    records_per_partition,
    records_per_second,
    scatter_by_class,
    timeline,
)
from kafkalab.charts.delivery import lost_and_extra
from kafkalab.charts.durability import ANSWERS, LOG_ENDS, answers, fates, log_ends
from kafkalab.charts.failover import failover
from kafkalab.charts.log import files_over_time, offsets_line
from kafkalab.charts.settings import settings_grids
from kafkalab.charts.transactions import transaction_log, transaction_logs
from kafkalab.picture import Picture, show

__all__ = [
    "ANSWERS",
    "COLOURS",
    "LOG_ENDS",
    "Picture",
    "answers",
    "failover",
    "fates",
    "files_over_time",
    "latency_distribution",
    "log_ends",
    "lost_and_extra",
    "offsets_line",
    "records_per_partition",
    "records_per_second",
    "scatter_by_class",
    "settings_grids",
    "show",
    "timeline",
    "transaction_log",
    "transaction_logs",
]

STYLE = Path(__file__).with_name("kafkalab.mplstyle")
plt.style.use(STYLE)
