"""The other kind of group, for comparison: consumers that lessons 11 and 14 have shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkalab import quick
from kafkalab.lessons.share_groups.crew import hire, ready
from kafkalab.members import Member

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

FROM_THE_START = {"auto_offset_reset": "earliest", "enable_auto_commit": False, **quick.consumer}

# A worker that takes one film at a time and commits after each, like the packers of lesson 11.
ALONE = """
with KafkaConsumer(bootstrap_servers=address, client_id=name, group_id=group, **settings) as worker:
    worker.subscribe([topic])
    while running():
        for records in worker.poll(timeout_ms=100, max_records=1).values():
            for record in records:
                note("begins", offset=record.offset)
                develop(record.value)
                worker.commit()
                note("done", offset=record.offset)
"""


def hire_alone(names: Iterable[str], cluster: Cluster, topic: str) -> dict[str, Member]:
    """Start a worker of each name, in a consumer group; they are ready when this returns."""
    group = f"{topic} alone"
    crew = hire(ALONE, names, cluster, topic, FROM_THE_START, group)
    ready(cluster, group, len(crew))
    return crew


def again_and_again(cluster: Cluster, topic: str, bad: bytes, polls: int) -> Counter[int]:
    """Offset -> how often it came to a consumer that goes back to the bad record with `seek`."""
    from kafka import KafkaConsumer

    came: Counter[int] = Counter()
    own = {"bootstrap_servers": cluster.address, "group_id": f"{topic} alone", **FROM_THE_START}
    with KafkaConsumer(topic, **own) as worker:
        for _ in range(polls):
            for place, (record,) in worker.poll(timeout_ms=500, max_records=1).items():
                came[record.offset] += 1
                if record.value == bad:
                    worker.seek(place, record.offset)
    return came
