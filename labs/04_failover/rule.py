"""The rule of lab 04: who leads, and who is in sync, when brokers are gone."""

from collections.abc import Collection, Sequence
from typing import Any

from grading.judge.checks import Unseen

Table = dict[int, dict[str, Any]]


def after_loss(replicas: Sequence[Sequence[int]], dead: Collection[int]) -> Table:
    """Where all copies were in sync: the first of the list that is alive leads."""
    alive = [[broker for broker in brokers if broker not in dead] for brokers in replicas]
    return {p: {"leader": some[0], "isr": sorted(some)} for p, some in enumerate(alive)}


def as_table(value: object) -> Table:
    """A table out of the notebook: JSON has made text of its partitions."""
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        raise Unseen(f"this is no dictionary of partitions: {str(value)[:100]}")
    try:
        return {
            int(p): {"leader": one.get("leader"), "isr": sorted(one.get("isr") or [])}
            for p, one in value.items()
        }
    except (TypeError, ValueError):
        raise Unseen(f"this is no table of leaders: {str(value)[:100]}") from None
