"""Whether the members of a group in one notebook have all heard of the same deal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka import KafkaConsumer


def are_joined(members: Iterable[KafkaConsumer]) -> bool:
    """Whether each is in, and all are of one generation of the group, as they know it."""
    from kafka.coordinator.base import MemberState

    known = [member.group_metadata() for member in members]
    generations = {one.generation_id for one in known}
    return len(generations) == 1 and all(one.state == MemberState.STABLE for one in known)
