"""One end of a connection: whole frames come from it, and whole frames wait for it in a lane.

Frames keep their order, whatever the delays. An end that sends faster than the other takes is held.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkalab.gateway.framing import Splitter

if TYPE_CHECKING:
    from kafkalab.gateway.passage import Passage

# So many bytes may wait in a lane before its sender is made to wait.
ROOM = 4_000_000
# How long a connection that is to end may take to hand over what it holds.
FLUSH = 0.5
# Closing then sends a reset instead of a farewell.
RESET = struct.pack("ii", 1, 0)


class End(asyncio.Protocol):
    """One end: what comes from it is cut into frames; what goes to it waits in a lane."""

    def __init__(self, received: Callable[[bytes], None], connection: Passage) -> None:
        self._received = received
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._holds: set[str] = set()
        self._lane: deque[tuple[float, bytes, Callable[[], None] | None]] = deque()
        self._waiting = 0
        self._wake: asyncio.TimerHandle | None = None
        self._finish = self._finished = self._ended = False
        self.splitter = Splitter()
        self.transport: asyncio.Transport | None = None
        self.gone = asyncio.Event()

    @property
    def other(self) -> End:
        return self._connection.other(self)

    def send(self, frame: bytes, due: float = 0, then: Callable[[], None] | None = None) -> None:
        """Hand a frame to this end, not before `due` and after those before it."""
        self._lane.append((due, frame, then))
        self._waiting += len(frame)
        self._deliver()

    def finish(self) -> None:
        """No more will come: say so behind what waits."""
        self._finish = True
        self._deliver()

    def hold(self, reason: str, on: bool) -> None:
        """Take nothing from this end while there is a reason not to."""
        before = bool(self._holds)
        (self._holds.add if on else self._holds.discard)(reason)
        if self.transport and not self.transport.is_closing() and before != bool(self._holds):
            (self.transport.pause_reading if on else self.transport.resume_reading)()

    def end(self, reset: bool) -> None:
        """Close when what was handed over is on its way."""
        if self.transport is None:
            self.gone.set()
            return
        if self._wake:
            self._wake.cancel()
        self._forget()
        if reset and (line := self.transport.get_extra_info("socket")) is not None:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.transport.close()
        self._loop.call_later(FLUSH, self.transport.abort)

    def half_close(self) -> None:
        """Tell this end that no more will come, and go on taking what comes from it."""
        self._forget()
        self.finish()

    def _forget(self) -> None:
        self._lane.clear()
        self._waiting = 0

    # --- What asyncio tells --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # of a connection by TCP
        self.transport = transport
        if self._holds:
            transport.pause_reading()
        self._deliver()

    def data_received(self, data: bytes) -> None:
        frames = self.splitter.feed(data)
        if self.splitter.opaque:
            self.other.splitter.opaque = True
        for frame in frames:
            if self.transport is None or self.transport.is_closing():
                return
            self._received(frame)

    def eof_received(self) -> bool:
        self._ended = True
        self.other.finish()
        return not self._finished  # false: both directions are over, so asyncio closes

    def pause_writing(self) -> None:
        self.other.hold("full", True)

    def resume_writing(self) -> None:
        self.other.hold("full", False)

    def connection_lost(self, error: Exception | None) -> None:
        self.gone.set()
        self._connection.lost()

    def _deliver(self) -> None:
        if self._wake:
            self._wake.cancel()
            self._wake = None
        if self.transport is None:
            return
        while self._lane and not self.transport.is_closing():
            due, frame, then = self._lane[0]
            if due > self._loop.time():
                self._wake = self._loop.call_at(due, self._deliver)
                break
            self._lane.popleft()
            self._waiting -= len(frame)
            self.transport.write(frame)
            if then:
                then()
        self.other.hold("late", self._waiting > ROOM)
        closing = self.transport.is_closing()
        if self._finish and not (self._lane or self._finished or closing):
            self._finished = True
            if self._ended:
                self.transport.close()
            else:
                self.transport.write_eof()
