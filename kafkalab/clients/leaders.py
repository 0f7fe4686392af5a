"""Metadata that knows more than a later answer is kept.

A broker that was frozen or cut off answers for a moment from what it knew before, and names the
leader of then: itself, for instance. kafka-python 3.0.12 believes whoever answered last. A producer
then sends the next sequence number to a log that lacks the numbers before it, the stale leader
calls it out of order, and the record fails although nothing is wrong with it. Java's clients
compare the leader epochs since KIP-320 and keep the newer leader.
"""

from __future__ import annotations

import functools
from typing import Any

from kafka.cluster import ClusterMetadata
from kafka.protocol.metadata import MetadataResponse

# From this version on the epochs of an answer can be trusted (KAFKA-9212).
TRUSTED = 9


def keep_the_newer_leader() -> None:
    """Of a partition whose leader epoch is lower than the known one, what is known stays."""
    update = ClusterMetadata.update_metadata

    @functools.wraps(update)
    def update_metadata(self: ClusterMetadata, metadata: MetadataResponse) -> None:
        if metadata.API_VERSION >= TRUSTED:
            for topic in metadata.topics:
                # A topic that was deleted and made anew counts its epochs from the beginning.
                if self._topic_ids.get(topic.name) == topic.topic_id:
                    known = self._partitions.get(topic.name, {})
                    topic.partitions = [
                        _newer(known.get(one.partition_index), one) for one in topic.partitions
                    ]
        update(self, metadata)

    ClusterMetadata.update_metadata = update_metadata


def _newer(known: Any, told: Any) -> Any:
    """Of two accounts of a partition the one to believe; `known` may be None."""
    return known if known and known.leader_epoch > told.leader_epoch >= 0 else told
