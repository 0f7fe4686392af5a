"""Lesson rebalancing: what changes in groups make stand still, told by their members' events."""

from kafkalab.lessons.rebalancing.answers import fence_of, fenced_by, refused_with
from kafkalab.lessons.rebalancing.change import (
    GroupChange,
    Read,
    change,
    fill_up,
    let_go,
    reads,
    wait_for_members,
    wait_for_work,
)
from kafkalab.lessons.rebalancing.crowd import customers
from kafkalab.lessons.rebalancing.drawings import (
    records_by_partition,
    show_standing,
    show_standstills,
    standstill_by_group,
    standstills,
)
from kafkalab.lessons.rebalancing.having import having, partitions_of, settled, told_since

__all__ = [
    "GroupChange",
    "Read",
    "change",
    "customers",
    "fence_of",
    "fenced_by",
    "fill_up",
    "having",
    "let_go",
    "partitions_of",
    "reads",
    "records_by_partition",
    "refused_with",
    "settled",
    "show_standing",
    "show_standstills",
    "standstill_by_group",
    "standstills",
    "told_since",
    "wait_for_members",
    "wait_for_work",
]
