"""The cluster of one slot: shared by the hand-ins that run there one after the other.

Students are kept apart by names of their own; in between, topics and groups go away and stopped
brokers come back. A cluster that cannot be put in order is replaced.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from grading.define.definition import NO_CLUSTER, Definition
from grading.run.sweep import sweep
from kafkalab.errors import CourseError

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

CHANGED = {"DYNAMIC_BROKER_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG"}
OFFSETS = "__consumer_offsets"
QUICK = 2.0  # seconds for a cluster in good order to say so


class Lease:
    """Gives the path of a running cluster's description to one attempt at a time.

    tag: sweep only names that hold it, on a cluster that somebody else uses too.
    """

    def __init__(self, lab: Definition, tag: str = "") -> None:
        self.lab = lab
        self.tag = tag
        self.cluster: Cluster | None = None
        self._as_started: list[tuple[int, str, str | None]] = []

    def take(self) -> str | None:
        """A cluster in good order; None where the lab needs none."""
        if self.lab.profile == NO_CLUSTER:
            return None
        if self.cluster is None:
            from kafkalab.cluster.cluster import Cluster

            self.cluster = Cluster.start(
                self.lab.profile,
                settings=self.lab.settings,
                beside=True,
                gateway=self.lab.gateway,
            )
            make_topic_of_offsets(self.cluster)
            self._as_started = changed_settings(self.cluster)
        return str(self.cluster.slot.record)

    def give_back(self, is_sound: bool = True) -> None:
        """Put the cluster in order for the next attempt, or drop it."""
        if self.cluster is None:
            return
        if self.lab.fresh or not is_sound or not self._is_in_order(self.cluster):
            self.close()

    def close(self) -> None:
        """Stop the cluster."""
        if self.cluster is not None:
            cluster, self.cluster = self.cluster, None
            with contextlib.suppress(CourseError):  # its folder is swept when the next one starts
                cluster.close()

    def _is_in_order(self, cluster: Cluster) -> bool:
        from kafka.errors import KafkaError

        try:
            put_in_order(cluster)
            sweep(cluster, self.tag)
            return changed_settings(cluster) == self._as_started
        except (CourseError, KafkaError, OSError):
            return False


def put_in_order(cluster: Cluster) -> None:
    """Bring back what an attempt stopped or paused."""
    cluster.network.heal_all()
    with contextlib.suppress(CourseError):
        cluster.wait_for_brokers(timeout=QUICK)
        return
    cluster.mend()


def make_topic_of_offsets(cluster: Cluster) -> None:
    """Let the brokers make the topic of the groups' offsets, as they do for the first group.

    Else it would be there for those alone who are graded after somebody who used a group.
    """
    from kafka import KafkaAdminClient
    from kafka.errors import KafkaError

    from kafkalab import quick

    with (
        KafkaAdminClient(
            bootstrap_servers=cluster.address, client_id="grading-lease", **quick.admin
        ) as admin,
        contextlib.suppress(KafkaError),  # there is no such group, and the question is enough
    ):
        admin.describe_groups(["grading"])
    cluster.wait_for_topic(OFFSETS)


def changed_settings(cluster: Cluster) -> list[tuple[int, str, str | None]]:
    """Broker settings set while the cluster runs; what one student changes the next would have."""
    return [
        (broker, name, setting.value)
        for broker in cluster.brokers
        for name, setting in sorted(cluster.broker_configs(broker).items())
        if setting.source in CHANGED
    ]
