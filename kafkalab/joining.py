"""A group's answer that came between two polls, kept for the next poll.

kafka-python 3.0.12 lets one `poll` begin to join a group and a later one take the assignment. An
answer that comes while nobody polls is dropped: either the next poll joins once more, which all
other members have to follow, or, where new metadata was the reason to join, nobody remembers that
a join was under way, and the member stays without partitions and without heartbeats. Java's
consumer finishes the join that it began (`AbstractCoordinator.rejoinIncomplete`); so does this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka.coordinator.base import MemberState

if TYPE_CHECKING:
    from kafka import KafkaConsumer


def finish_what_was_begun(consumer: KafkaConsumer) -> None:
    """Arrange it for this consumer, before its first poll."""
    coordinator = consumer._coordinator
    needed, join = coordinator.need_rejoin, coordinator.ensure_active_group_async

    def need_rejoin() -> bool:
        return coordinator._join_task is not None or needed()

    async def ensure_active_group_async(timeout_ms: float | None = None) -> bool:
        task = coordinator._join_task
        if task is None or not task.succeeded():
            return await join(timeout_ms)
        # What join_group_async does with an answer that it waited for.
        coordinator._join_task = None
        with coordinator._lock:
            coordinator.rejoining = False
            coordinator.rejoin_needed = False
            coordinator.state = MemberState.STABLE
            coordinator._enable_heartbeat()
        generation = coordinator._generation
        await coordinator._on_join_complete_async(
            generation.generation_id, generation.member_id, generation.protocol, task.value
        )
        return True

    coordinator.need_rejoin = need_rejoin
    coordinator.ensure_active_group_async = ensure_active_group_async
