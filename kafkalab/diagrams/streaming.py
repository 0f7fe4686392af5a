"""The way of a stream: what writes, the cluster between, what reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from kafkalab.diagrams.canvas import ADDED, GIVEN
from kafkalab.diagrams.plan import plan

if TYPE_CHECKING:
    from kafkalab.cluster import Cluster


def streaming(
    cluster: Cluster,
    sources: Mapping[str, str],
    streams: Mapping[str, str],
    batches: Mapping[str, str],
) -> Axes:
    """Sources, the topics of a cluster, and those who read at once or later.

    Each mapping gives a name its topic. Topics stand there with what they hold now.
    """
    names = list(dict.fromkeys([*sources.values(), *streams.values(), *batches.values()]))
    topics = {name: f"topic {name}\n{cluster.topic(name).records:,} records" for name in names}
    at_once = {f"{name}\nat once": topic for name, topic in streams.items()}
    later = {f"{name}\nlater": topic for name, topic in batches.items()}
    count = len(cluster.brokers)
    return plan(
        [list(sources), list(topics.values()), [*at_once, *later]],
        [
            *((source, topics[topic]) for source, topic in sources.items()),
            *((topics[topic], reader) for reader, topic in (at_once | later).items()),
        ],
        colours=dict.fromkeys(topics.values(), GIVEN) | dict.fromkeys(at_once, ADDED),
        frames={f"cluster of {count} broker{'' if count == 1 else 's'}": list(topics.values())},
        width=1.9,
        between=1.0,
    )
