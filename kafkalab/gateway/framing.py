"""Kafka's frames: find them in a stream of bytes, and read what stands in front of a request.

A frame is four bytes of length and as many bytes more. A request begins with its API, version,
correlation id and client id, at places that no version has changed. Bodies are not decoded, with
few exceptions: for some APIs the first field is the name that the request is about (a transactional
id, a group), and a produce request tells right after it which acknowledgement it wants. What such
a request carries is read in kafkalab/gateway/produced.py. Of the answers, one that refuses a
producer id is told from one that gives it.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

# What a broker accepts (socket.request.max.bytes). A longer "length" is no length: TLS, say.
LARGEST = 104_857_600
LENGTH = struct.Struct(">i")
HEADER = struct.Struct(">hhi")
SHORT = struct.Struct(">h")
UNREADABLE = (struct.error, UnicodeDecodeError, IndexError)

PRODUCE = 0
# API -> the first version in the flexible format, where strings and headers are written otherwise.
TRANSACTIONAL = {22: 2, 24: 3, 25: 3, 26: 3, 28: 3}
GROUP = {8: 8, 11: 6, 12: 4, 13: 4, 14: 4, 68: 0}
PRODUCE_NAMES_TRANSACTION, PRODUCE_FLEXIBLE = 3, 9
INIT_PRODUCER_ID = 22
# From here on AddPartitionsToTxn carries several transactions and is only sent between brokers.
ADD_PARTITIONS, ADD_PARTITIONS_BATCHED = 24, 4

# How the nodes of a cluster name themselves to each other: `broker-1-fetcher-0` (replicas),
# `raft-client-1` (metadata log), `1` (to the controller), `AddPartitionsManager-client-1`.
NODE = re.compile(r"(?:broker-|raft-client-|.+-client-)?(\d+)(?:-.*)?")


class Splitter:
    """Take bytes as they come, give whole frames."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        # Set for good once the bytes turn out not to be frames.
        self.opaque = False

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that these bytes complete, each with its length in front.

        An opaque stream comes out as it went in.
        """
        self._waiting += data
        found, start, end = [], 0, len(self._waiting)
        while end - start >= 4 and not self.opaque:
            (length,) = LENGTH.unpack_from(self._waiting, start)
            if not 0 <= length <= LARGEST:
                self.opaque = True
            elif end - start - 4 < length:
                break
            else:
                found.append(bytes(self._waiting[start : start + 4 + length]))
                start += 4 + length
        if self.opaque and start < end:
            found.append(bytes(self._waiting[start:]))
            start = end
        del self._waiting[:start]
        return found


@dataclass(frozen=True, slots=True)
class Request:
    """What stands in front of a request. The API -1 stands for what is not one."""

    api: int = -1
    version: int = -1
    correlation: int = -1
    client_id: str | None = None
    acks: int | None = None
    transactional_id: str | None = None
    group: str | None = None


def request(frame: bytes) -> Request:
    """Read a whole frame that came from a client."""
    try:
        api, version, correlation = HEADER.unpack_from(frame, 4)
        client_id, place = string(frame, 12)
    except UNREADABLE:
        return Request()
    try:
        acks, transactional_id, group = _names(frame, place, api, version)
    except UNREADABLE:
        acks = transactional_id = group = None
    return Request(api, version, correlation, client_id, acks, transactional_id, group)


def correlation(frame: bytes) -> int:
    """To which request a whole frame from a broker is the answer; -1 where it tells nothing."""
    return LENGTH.unpack_from(frame, 4)[0] if len(frame) >= 8 else -1


def error(frame: bytes, request: Request) -> int | None:
    """The error code of the answer to a question for a producer id; None for all other answers."""
    if request.api != INIT_PRODUCER_ID:
        return None
    place = 8
    try:
        if request.version >= TRANSACTIONAL[INIT_PRODUCER_ID]:
            place = tagged(frame, place)
        return SHORT.unpack_from(frame, place + 4)[0]
    except UNREADABLE:
        return None


def node(client_id: str | None) -> int | None:
    """Which node of the cluster a connection between nodes comes from."""
    found = NODE.fullmatch(client_id or "")
    return int(found[1]) if found else None


def _names(
    frame: bytes, place: int, api: int, version: int
) -> tuple[int | None, str | None, str | None]:
    """Acknowledgement, transactional id and group, each None where the request has none."""
    if api == PRODUCE:
        name = None
        if version >= PRODUCE_NAMES_TRANSACTION:
            name, place = first_string(frame, place, version >= PRODUCE_FLEXIBLE)
        return SHORT.unpack_from(frame, place)[0], name, None
    if api == ADD_PARTITIONS and version >= ADD_PARTITIONS_BATCHED:
        return None, None, None
    if api in TRANSACTIONAL:
        return None, first_string(frame, place, version >= TRANSACTIONAL[api])[0], None
    if api in GROUP:
        return None, None, first_string(frame, place, version >= GROUP[api])[0]
    return None, None, None


def first_string(frame: bytes, place: int, flexible: bool) -> tuple[str | None, int]:
    """The string at the beginning of a body; `place` is behind the client id."""
    return string(frame, tagged(frame, place, flexible), flexible)


def count(frame: bytes, place: int, flexible: bool) -> tuple[int, int]:
    """How many bytes or entries follow, -1 for none at all, and the place where they begin.

    The flexible format writes one more than it is.
    """
    if not flexible:
        return LENGTH.unpack_from(frame, place)[0], place + LENGTH.size
    size, place = varint(frame, place)
    return size - 1, place


def tagged(frame: bytes, place: int, flexible: bool = True) -> int:
    """The place behind the fields that a later version may add; only the flexible format has any.

    They end its header, each entry of a list and the body.
    """
    if not flexible:
        return place
    fields, place = varint(frame, place)
    for _ in range(fields):
        _, place = varint(frame, place)
        size, place = varint(frame, place)
        place += size
    return place


def string(frame: bytes, place: int, flexible: bool = False) -> tuple[str | None, int]:
    """A text and the place behind it; `flexible` is how KIP-482 writes it."""
    if flexible:
        size, place = varint(frame, place)
        return (None, place) if size == 0 else _text(frame, place, size - 1)
    (size,) = SHORT.unpack_from(frame, place)
    return (None, place + 2) if size < 0 else _text(frame, place + 2, size)


def _text(frame: bytes, place: int, size: int) -> tuple[str, int]:
    if place + size > len(frame):
        raise IndexError("the frame ends within a text")
    return frame[place : place + size].decode(), place + size


def varint(frame: bytes, place: int) -> tuple[int, int]:
    """An unsigned number of 7 bits a byte, and the place behind it."""
    value = shift = 0
    while shift < 35:
        byte = frame[place]
        value |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return value, place
        shift += 7
    raise IndexError("a number is longer than five bytes")
