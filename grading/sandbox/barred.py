"""What no hand-in may set on a broker: the address where it listens, or a path on its disk.

Brokers run outside of the sandbox, with the rights of the grader, and take many settings while
they run. One that listens on every address, or reads a file, would do outside what the sandbox
keeps a student from. So a broker's setting may become a number, a word or a list of words. A
request for anything else reaches the broker as one for a resource that does not exist, which it
refuses.
Nor may it write into Kafka's own topics, which tell what its groups did. Brokers let a client do so
that is called `__admin_client` (`KafkaApis.handleProduceRequest`); what such a one sends reaches
them under another name, and they refuse it.
What a client says through TLS is not read here: a lab with TLS has to be one whose brokers may do
nothing that matters.
"""

from __future__ import annotations

import re
import struct

from kafkalab.gateway.framing import (
    LARGEST,
    LENGTH,
    PRODUCE,
    SHORT,
    UNREADABLE,
    count,
    string,
    tagged,
)

ALTER, ALTER_INCREMENTALLY = 33, 44
FLEXIBLE = {ALTER: 2, ALTER_INCREMENTALLY: 1}
"""API -> the first version in the flexible format."""
BROKER, NO_RESOURCE = 4, 0
HARMLESS = re.compile(r"[\w,\s-]*|-?\d+\.\d+")
READS = "config.providers"
"""A setting that lets the values of others be read from files."""
HEAD = 6  # bytes up to the API
NAME = 12  # where a request says who sends it
PRIVILEGED = SHORT.pack(len(b"__admin_client")) + b"__admin_client"
LONGEST = 1_000_000  # bytes of a request that changes settings


class Barred(Exception):
    """This is no request that the grader hands on."""


class Sieve:
    """Takes what a client says, as it comes, and gives what the broker gets of it."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._passing = 0  # bytes of the frame at hand that need no look
        self._is_opaque = False

    def feed(self, data: bytes) -> bytes:
        """A Barred where nobody could tell what it asks for."""
        self._held += data
        ready = bytearray()
        while part := self._next():
            ready += part
        return bytes(ready)

    def _next(self) -> bytes:
        """What can go on; nothing where more has to come first."""
        if not self._passing and not self._is_opaque:
            if len(self._held) < HEAD:
                return b""
            (length,) = LENGTH.unpack_from(self._held)
            (api,) = SHORT.unpack_from(self._held, 4)
            if not HEAD - 4 <= length <= LARGEST:  # TLS, or nothing that a broker accepts
                self._is_opaque = True
            elif api in FLEXIBLE:
                if length > LONGEST:
                    raise Barred
                whole = 4 + length
                return looked_at(self._taken(whole)) if len(self._held) >= whole else b""
            else:
                if api == PRODUCE:
                    named = NAME + len(PRIVILEGED)
                    if len(self._held) < min(named, 4 + length):
                        return b""
                    if self._held[NAME:named] == PRIVILEGED:
                        self._held[named - 1] = ord("_")
                self._passing = 4 + length
        if self._is_opaque:
            return self._taken(len(self._held))
        part = self._taken(self._passing)
        self._passing -= len(part)
        return part

    def _taken(self, count: int) -> bytes:
        part = bytes(self._held[:count])
        del self._held[:count]
        return part


def looked_at(frame: bytes) -> bytes:
    """A whole request, without what it may not ask for."""
    changed = bytearray(frame)
    try:
        for place in barred(frame):
            changed[place] = NO_RESOURCE
    except UNREADABLE:
        raise Barred from None
    return bytes(changed)


def barred(frame: bytes) -> list[int]:
    """Where a whole request names the kind of each resource that it may not change."""
    api, version = struct.unpack_from(">hh", frame, 4)
    flexible = version >= FLEXIBLE[api]
    _, place = string(frame, 12)
    place = tagged(frame, place, flexible)
    resources, place = count(frame, place, flexible)
    found = []
    for _ in range(resources):
        kind = place
        _, place = string(frame, place + 1, flexible)
        settings, place = count(frame, place, flexible)
        for _ in range(settings):
            name, place = string(frame, place, flexible)
            place += api == ALTER_INCREMENTALLY  # what is done to the setting
            value, place = string(frame, place, flexible)
            place = tagged(frame, place, flexible)
            is_harmless = HARMLESS.fullmatch(value or "") and not (name or "").startswith(READS)
            if frame[kind] == BROKER and not is_harmless:
                found.append(kind)
        place = tagged(frame, place, flexible)
    return found
