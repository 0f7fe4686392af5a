"""The records of `__consumer_offsets`, as far as they are commits."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Versions of a key that are commits; greater ones are about groups of all kinds and their members.
COMMIT = (0, 1)


@dataclass(frozen=True)
class StoredCommit:
    """One record: whose commit it is for which partition, and the offset; None takes it away."""

    group: str
    topic: str
    partition: int
    offset: int | None


def commits_of(group: str, records: Iterable[Any]) -> list[StoredCommit]:
    """The commits of a group among these records, in the order of the log."""
    found = [_decoded(record) for record in records if record.key]
    return [commit for commit in found if commit is not None and commit.group == group]


def _decoded(record: Any) -> StoredCommit | None:
    (version,) = struct.unpack_from(">h", record.key)
    if version not in COMMIT:
        return None
    group, at = _text(record.key, 2)
    topic, at = _text(record.key, at)
    (partition,) = struct.unpack_from(">i", record.key, at)
    # A value begins with its version in all versions, and then comes the offset.
    offset = struct.unpack_from(">hq", record.value)[1] if record.value else None
    return StoredCommit(group, topic, partition, offset)


def _text(data: bytes, at: int) -> tuple[str, int]:
    """A text behind its length of two bytes, and where it ends."""
    (length,) = struct.unpack_from(">h", data, at)
    end = at + 2 + length
    return data[at + 2 : end].decode(), end
