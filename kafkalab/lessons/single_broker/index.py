"""The index of a segment, and how much of the file it spares whoever looks for an offset."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from kafkalab.cluster.segments import Batch, Segment

PAIR = struct.Struct(">ii")


def index_pairs(segment: Segment) -> list[tuple[int, int]]:
    """The pairs of an offset and a position that a segment's index holds so far.

    In the file the offsets count from the segment's first one. The room behind the last pair is
    reserved, and holds zeros.
    """
    pairs = PAIR.iter_unpack(segment.path.with_suffix(".index").read_bytes())
    base = segment.base_offset
    return [(base + offset, position) for offset, position in pairs if offset or position]


def ways(batches: Sequence[Batch], pairs: Sequence[tuple[int, int]]) -> pd.DataFrame:
    """For the first offset of each batch: the bytes of the file from where a search begins.

    It ends at the batch. It begins where the file does, or where the last pair leads whose offset
    is not larger.
    """
    placed = [(batch.base_offset, batch.position) for batch in batches]
    found = pd.DataFrame(placed, columns=["offset", "without the index"])
    index = pd.DataFrame(pairs, columns=["offset", "begin"])
    begin = pd.merge_asof(found, index, on="offset")["begin"].fillna(0)
    found["with the index"] = found["without the index"] - begin
    return found
