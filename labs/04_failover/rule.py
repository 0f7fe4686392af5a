"""The rule of lab 04: who leads, and who is in sync, when brokers are gone."""

from collections.abc import Collection, Sequence
from typing import Any

Table = dict[int, dict[str, Any]]
PLACE = {"leader": int | None, "isr": list[int]}
TABLE = dict[int, PLACE]
"""The form of a table that the notebook keeps."""


def after_loss(replicas: Sequence[Sequence[int]], dead: Collection[int]) -> Table:
    """Where all copies were in sync: the first of the list that is alive leads, or nobody."""
    alive = [[broker for broker in brokers if broker not in dead] for brokers in replicas]
    return {p: {"leader": next(iter(s), None), "isr": sorted(s)} for p, s in enumerate(alive)}
