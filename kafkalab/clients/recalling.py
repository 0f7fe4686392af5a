"""A committed offset that is asked for anew where an older answer may have been overtaken.

kafka-python 3.0.12 keeps a question for committed offsets whose time was over, and gives its answer
to whoever asks for the same partitions next, however late that is. So `committed` tells what was
there before a commit, and a member that is given a partition again begins where the group was
then. Java's consumer keeps such a question only for the same generation of the group
(`ConsumerCoordinator.PendingCommittedOffsetRequest`).
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any

from kafka import TopicPartition
from kafka.coordinator.consumer import ConsumerCoordinator


def ask_anew() -> None:
    """Change ConsumerCoordinator for this process; see `MENDS` for the fault."""
    commit = ConsumerCoordinator._send_offset_commit_request
    join = ConsumerCoordinator._on_join_complete_async
    fetch = ConsumerCoordinator.fetch_committed_offsets

    @functools.wraps(commit)
    async def commit_and_forget(self: ConsumerCoordinator, offsets: Mapping[Any, Any]) -> Any:
        try:
            return await commit(self, offsets)
        finally:
            self._offset_fetch_futures.clear()

    @functools.wraps(join)
    async def forget_and_join(self: ConsumerCoordinator, *given: Any) -> Any:
        self._offset_fetch_futures.clear()
        return await join(self, *given)

    @functools.wraps(fetch)
    def fetch_anew(
        self: ConsumerCoordinator,
        partitions: Collection[TopicPartition],
        timeout_ms: float | None = None,
    ) -> Any:
        # By `committed` alone: a poll goes on with the question that it has begun.
        self._offset_fetch_futures.pop(frozenset(partitions), None)
        return fetch(self, partitions, timeout_ms)

    ConsumerCoordinator._send_offset_commit_request = commit_and_forget
    ConsumerCoordinator._on_join_complete_async = forget_and_join
    ConsumerCoordinator.fetch_committed_offsets = fetch_anew
