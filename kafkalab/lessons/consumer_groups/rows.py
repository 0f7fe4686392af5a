"""Drawings of who has which partition: a row for each state, a box for each partition."""

from __future__ import annotations

import re
from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from kafkalab.lessons.consumer_groups.dealing import Owners

NUMBER = re.compile(r"-\d+$")

# A light shade for each member, in the order of their names.
SHADES = (
    *("#9CC9E8", "#F3CE7F", "#8FCFB6", "#E9C3D8", "#C9B8E4"),
    *("#F2B8A0", "#CFE3A0", "#B5D8DE", "#E3D3B8", "#D0D0D0"),
)


def who_has_what(rows: Mapping[str, Owners]) -> Axes:
    """A row for each state of a group, a box for each partition with the name of its reader.

    Topics are named as a reader calls them: without the number that `unused` adds to a name.
    """
    places = sorted({place for having in rows.values() for place in having})
    names = sorted({name for having in rows.values() for name in having.values()})
    shades = {name: SHADES[number % len(SHADES)] for number, name in enumerate(names)}
    several = len({topic for topic, _ in places}) > 1
    _, ax = plt.subplots(figsize=(9, 0.9 + 0.42 * len(rows)), layout="constrained")
    for row, having in enumerate(rows.values()):
        height = len(rows) - 1 - row
        for column, place in enumerate(places):
            if (name := having.get(place)) is None:
                continue
            box = Rectangle((column + 0.03, height + 0.07), 0.94, 0.86, facecolor=shades[name])
            ax.add_patch(box)
            ax.text(column + 0.5, height + 0.5, name, ha="center", va="center", fontsize=9)
    ticks = [f"{NUMBER.sub('', topic)}\n{p}" if several else str(p) for topic, p in places]
    ax.set_xticks([column + 0.5 for column in range(len(places))], ticks)
    ax.set_yticks([len(rows) - 0.5 - row for row in range(len(rows))], list(rows))
    ax.set(xlim=(0, len(places)), ylim=(0, len(rows)), xlabel="partition")
    ax.grid(visible=False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax
