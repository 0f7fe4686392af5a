"""Clear a cluster of what a student made: topics and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster


def sweep(cluster: Cluster, tag: str = "") -> list[str]:
    """Delete topics and groups whose name holds `tag` (all, where it is empty).

    Returns what was deleted, once the cluster no longer lists the topics.
    """
    from kafka import KafkaAdminClient

    from kafkalab import quick

    topics = [name for name in cluster.topics() if tag in name]
    groups = [name for name in cluster.groups() if tag in name]
    if not topics and not groups:
        return []
    with KafkaAdminClient(
        bootstrap_servers=cluster.address, client_id="grading-sweep", **quick.admin
    ) as admin:
        if topics:
            admin.delete_topics(topics, raise_errors=False)
        if groups:
            # one with a member that never left stays; no other student's group has its name
            admin.delete_groups(groups)
    wait_until(
        lambda: not set(topics) & set(cluster.topics()),
        timeout=15,
        what="the topics of the last hand-in to go away",
        seen=cluster.topics,
    )
    return [*topics, *groups]
