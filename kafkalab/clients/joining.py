"""A group's answer that came between two polls, kept for the next poll.

kafka-python 3.0.12 lets one `poll` begin to join a group and a later one take the assignment. An
answer that comes while nobody polls is dropped: either the next poll joins once more, which all
other members have to follow, or, where new metadata was the reason to join, nobody remembers that
a join was under way, and the member stays without partitions and without heartbeats. Java's
consumer finishes the join that it began (`AbstractCoordinator.rejoinIncomplete`); so does this.
"""

from __future__ import annotations

import functools

from kafka.coordinator.base import MemberState
from kafka.coordinator.consumer import ConsumerCoordinator


def finish_what_was_begun() -> None:
    """Change ConsumerCoordinator for this process; see `MENDS` for the fault."""
    needed = ConsumerCoordinator.need_rejoin
    join = ConsumerCoordinator.ensure_active_group_async

    @functools.wraps(needed)
    def need_rejoin(self: ConsumerCoordinator) -> bool:
        return self._join_task is not None or needed(self)

    @functools.wraps(join)
    async def ensure_active_group_async(
        self: ConsumerCoordinator, timeout_ms: float | None = None
    ) -> bool:
        task = self._join_task
        if task is None or not task.succeeded():
            return await join(self, timeout_ms)
        # What join_group_async does with an answer that it waited for.
        self._join_task = None
        with self._lock:
            self.rejoining = False
            self.rejoin_needed = False
            self.state = MemberState.STABLE
            self._enable_heartbeat()
        generation = self._generation
        await self._on_join_complete_async(
            generation.generation_id, generation.member_id, generation.protocol, task.value
        )
        return True

    ConsumerCoordinator.need_rejoin = need_rejoin
    ConsumerCoordinator.ensure_active_group_async = ensure_active_group_async
