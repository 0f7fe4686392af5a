"""Records of `__consumer_offsets`, written by hand as Kafka 4.3 writes them."""

import struct
from collections.abc import Mapping

from grading.judge.log import Record

Written = tuple[bytes, bytes | None, int]
"""Key, value, and the broker's ms."""


def text(words: str | None) -> bytes:
    """Behind its length; -1 stands for none."""
    return b"\xff\xff" if words is None else struct.pack(">h", len(words.encode())) + words.encode()


def chunk(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def commit(
    group: str, topic: str, partition: int, offset: int | None, metadata: str = "", at: int = 0
) -> Written:
    """A commit; with the offset None it is forgotten."""
    key = struct.pack(">h", 1) + text(group) + text(topic) + struct.pack(">i", partition)
    if offset is None:
        return key, None, at
    words = metadata.encode()
    assert len(words) < 127, "a longer one has more than a byte before it"
    value = struct.pack(">hqi", 4, offset, -1) + bytes([len(words) + 1]) + words
    return key, value + struct.pack(">q", at) + b"\0", at


def given(assignment: Mapping[str, list[int]]) -> bytes:
    """What an assignor gives a member."""
    found = struct.pack(">hi", 0, len(assignment))
    for topic, partitions in assignment.items():
        found += text(topic) + struct.pack(f">i{len(partitions)}i", len(partitions), *partitions)
    return found + chunk(b"")


def members(
    group: str,
    generation: int,
    topic: str,
    *who: tuple[str, str, str | None, list[int]],
    at: int = 0,
    session_ms: int = 3_000,
    version: int = 3,
) -> Written:
    """A group from here on; each member is its id, its client id, its instance, its partitions.

    Below version 3 members have no instance.
    """
    value = struct.pack(">h", version) + text("consumer") + struct.pack(">i", generation)
    value += text("range") + text(who[0][0] if who else None) + struct.pack(">qi", at, len(who))
    for identity, client, instance, partitions in who:
        value += text(identity) + (text(instance) if version >= 3 else b"") + text(client)
        value += text("/127.0.0.1") + struct.pack(">ii", 300_000, session_ms)
        value += chunk(b"what it reads") + chunk(given({topic: partitions} if partitions else {}))
    return struct.pack(">h", 2) + text(group), value, at


def log(*written: Written) -> list[Record]:
    """They lie in one partition, in this order."""
    return [Record(0, n, at, key, value) for n, (key, value, at) in enumerate(written)]
