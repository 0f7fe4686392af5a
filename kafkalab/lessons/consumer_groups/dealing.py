"""Who has which partition, as the brokers or the members tell it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkalab.lessons.joined import are_joined
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafka import KafkaConsumer

    from kafkalab.cluster.cluster import Cluster

Place = tuple[str, int]
Owners = dict[Place, str]


def owners(cluster: Cluster, topic: str, members: int, timeout: float = 60) -> Owners:
    """Partition -> client id of its reader, once a group of so many has dealt out all of a topic.

    The group has the topic's name. It is asked for at its coordinator.
    """
    partitions = len(cluster.topic(topic).partitions)

    def dealt() -> Owners | None:
        view = cluster.group(topic)
        found = {
            (topic, partition): member.client
            for member in view.members
            for partition in member.assignment.get(topic, ())
        }
        settled = view.state == "STABLE" and len(view.members) == members
        return found if settled and len(found) == partitions else None

    return wait_until(dealt, timeout=timeout, what=f"{members} members of {topic} with partitions")


def counts(names: Iterable[str], having: Owners) -> dict[str, int]:
    """How many partitions each of these members has."""
    held = list(having.values())
    return {name: held.count(name) for name in names}


def settle(
    teams: Mapping[str, Sequence[KafkaConsumer]], partitions: int, timeout: float = 60
) -> dict[str, Owners]:
    """Poll the members of several groups until each group has dealt out all its partitions.

    And all its members are in: the first that joins has everything for a moment. Team -> partition
    -> client id, as the members themselves know it.
    """

    def dealt() -> dict[str, Owners] | None:
        found: dict[str, Owners] = {}
        done = True
        for team, members in teams.items():
            held = []
            for member in members:
                member.poll(timeout_ms=10)
                name = member.config["client_id"]
                held += [((p.topic, p.partition), name) for p in member.assignment()]
            found[team] = dict(held)
            done = done and are_joined(members) and len(held) == len(found[team]) == partitions
        return found if done else None

    return wait_until(dealt, timeout=timeout, what="partitions for each group", every=0.01)


def moved(before: Owners, after: Owners) -> list[Place]:
    """The partitions that another member has now, though the earlier one is still there."""
    there = set(after.values())
    return [p for p, name in sorted(before.items()) if name in there and after.get(p) != name]
