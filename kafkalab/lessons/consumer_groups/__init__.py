"""Lesson consumer_groups: who has which partition, how far behind, and without a coordinator."""

from kafkalab.lessons.consumer_groups.coordinator import (
    beside_coordinator,
    coordinators_of,
    java_hash,
)
from kafkalab.lessons.consumer_groups.dealing import counts, moved, owners, settle
from kafkalab.lessons.consumer_groups.heat import records_by_member
from kafkalab.lessons.consumer_groups.lag import Standing, Story, lag_of, lag_over_time
from kafkalab.lessons.consumer_groups.logged import Logged, logged
from kafkalab.lessons.consumer_groups.packing import (
    Silence,
    dealt_since,
    hire,
    longest_silence,
    packed_since,
    records_of,
    records_over_time,
    rehire,
    share_in_commits,
    wait_for_records,
)
from kafkalab.lessons.consumer_groups.rows import who_has_what

__all__ = [
    "Logged",
    "Silence",
    "Standing",
    "Story",
    "beside_coordinator",
    "coordinators_of",
    "counts",
    "dealt_since",
    "hire",
    "java_hash",
    "lag_of",
    "lag_over_time",
    "logged",
    "longest_silence",
    "moved",
    "owners",
    "packed_since",
    "records_by_member",
    "records_of",
    "records_over_time",
    "rehire",
    "settle",
    "share_in_commits",
    "wait_for_records",
    "who_has_what",
]
