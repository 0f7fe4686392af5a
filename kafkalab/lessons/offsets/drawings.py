"""What was done twice and what never: by strategy and point, and over the lives of a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from kafkalab.lessons.offsets.books import Books, Life
from kafkalab.lessons.offsets.runs import Point
from kafkalab.lessons.offsets.trials import Fate

ONCE, TWICE = "#9AA5AD", "#D55E00"
EDGE = "#0072B2"
LEGEND = [Patch(facecolor=ONCE, label="booked"), Patch(facecolor=TWICE, label="again")]


def by_point(trials: Sequence[Fate], points: Mapping[Point, str]) -> Axes:
    """A strip of all payments for each strategy (down) and each point of the kill (across).

    points: the words for each point, in the order of the columns.
    """
    hows = list(dict.fromkeys(trial.how for trial in trials))
    width = max(trial.end for trial in trials) + 3
    _, ax = plt.subplots(figsize=(8.5, 0.62 * len(hows) + 1.3))
    for trial in trials:
        left = list(points).index(trial.point) * width
        row = hows.index(trial.how)
        _strip(ax, trial, left, row)
        words = [f"{len(trial.twice)} twice"] * bool(trial.twice)
        words += [f"{len(trial.never)} never"] * bool(trial.never)
        ax.text(left, row - 0.33, ", ".join(words) or "each once", fontsize=8, va="bottom")
    middles = [number * width + (width - 3) / 2 for number in range(len(points))]
    ax.set_xticks(middles, list(points.values()))
    ax.set_yticks(range(len(hows)), hows)
    ax.set(xlim=(-0.7, len(points) * width - 2.3), ylim=(len(hows) - 0.5, -0.8))
    ax.set(xlabel=f"where the program is killed (a box is a payment, offset 0 to {width - 4})")
    _bare(ax)
    return ax


def by_life(books: Mapping[str, Books], end: int) -> list[Axes]:
    """Which offsets each life of each program booked, and where it was killed."""
    _, axes = plt.subplots(1, len(books), figsize=(8.5, 4), sharey=True, squeeze=False)
    drawn = []
    for ax, (name, kept) in zip(axes[0], books.items(), strict=True):
        seen: Counter[int] = Counter()
        for life in kept.lives:
            for offset in life.charged:
                colour = TWICE if seen[offset] else ONCE
                ax.add_patch(Rectangle((offset - 0.5, life.number - 0.4), 1, 0.8, color=colour))
            seen.update(life.charged)
            ax.text(
                max(life.charged, default=max(seen, default=-1)) + 2,
                life.number,
                _end(life),
                fontsize=8,
                va="center",
            )
        ax.set(xlim=(-1, end * 1.28), xlabel="offset of the payment")
        ax.set_xticks(range(0, end + 1, max(end // 5, 1)))
        ax.set_ylim(len(kept.lives) + 0.6, 0.4)
        ax.set_title(f"{name}: {len(kept.twice)} twice, {len(kept.never(end))} never", fontsize=10)
        _bare(ax)
        drawn.append(ax)
    drawn[0].set_ylabel("run of the program († killed at this danger)")
    drawn[0].set_yticks(range(1, len(next(iter(books.values())).lives) + 1))
    drawn[-1].legend(handles=LEGEND, loc="upper right", fontsize=8)
    return drawn


def _end(life: Life) -> str:
    words = f"† {life.killed_at}" if life.killed_at else "ended"
    return words if life.charged else f"{words}, nothing kept"


def _strip(ax: Axes, trial: Fate, left: float, row: int) -> None:
    for offset in range(trial.end):
        never, twice = offset in trial.never, offset in trial.twice
        ax.add_patch(
            Rectangle(
                (left + offset, row - 0.3),
                0.86,
                0.6,
                facecolor="white" if never else TWICE if twice else ONCE,
                edgecolor=EDGE if never else "none",
                hatch="////" if never else "",
                linewidth=0.6,
            )
        )


def _bare(ax: Axes) -> None:
    ax.grid(visible=False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
