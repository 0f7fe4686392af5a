"""The charts: a partition that stands, and three ways to work side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from kafkalab.draw.drawing import MARK, PLATE
from kafkalab.lessons.consumer_patterns.service import Service

STYLES = (("#0072B2", "o", "--"), ("#D55E00", "s", "-"), ("#009E73", "^", ":"))


def lag_by_day(evenings: Sequence[Mapping[int, int]], changed: int, what: str) -> Axes:
    """The lag of each partition, evening after evening; a line before the day of a change."""
    _, ax = plt.subplots(figsize=(8, 3.6))
    days = range(1, len(evenings) + 1)
    for partition, (colour, marker, line) in zip(sorted(evenings[0]), STYLES, strict=True):
        lags = [evening[partition] for evening in evenings]
        ax.plot(
            days, lags, color=colour, marker=marker, linestyle=line, label=f"partition {partition}"
        )
    ax.axvline(changed - 0.5, color=MARK, linewidth=1)
    ax.annotate(
        what, (changed - 0.5, 0.9), (4, 0), xycoords=("data", "axes fraction"),
        textcoords="offset points", color=MARK, bbox=PLATE,
    )  # fmt: skip
    ax.set(xlabel="day", ylabel="lag in the evening, records")
    ax.set_xlim(0.8, len(evenings) + 0.9)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="upper left")
    return ax


def models(services: Mapping[str, Service]) -> Axes:
    """For each way to work the orders a second, and how many were overtaken. The left axes."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 2.9), sharey=True, layout="constrained")
    names = list(services)
    rates = [service.rate for service in services.values()]
    overtaken = [service.overtaken for service in services.values()]
    for ax, numbers, label, colour, form in (
        (left, rates, "orders a second", "#0072B2", "{:,.0f}"),
        (
            right,
            overtaken,
            "orders overtaken by a later one\nof the same customer",
            "#D55E00",
            "{}",
        ),
    ):
        bars = ax.barh(names, numbers, color=colour, height=0.6)
        ax.bar_label(bars, [form.format(number) for number in numbers], padding=4)
        ax.set(xlabel=label, xlim=(0, max([*numbers, 1]) * 1.2))
        ax.grid(visible=False, axis="y")
    left.invert_yaxis()
    return left
