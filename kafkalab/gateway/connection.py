"""One connection through the gateway: whole frames from one end to the other.

Nothing is handed on before all of a frame is there, so neither end ever gets a part of one that
the other end had not finished. Frames keep their order in each direction, whatever the delays.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkalab.gateway import framing
from kafkalab.gateway.faults import OWN
from kafkalab.gateway.routes import NODES, Route

if TYPE_CHECKING:
    from kafkalab.gateway.server import Server

# So many bytes may wait in a lane before its sender is made to wait.
ROOM = 4_000_000
# How long a connection that is to end may take to hand over what it holds.
FLUSH = 0.5
# Closing then sends a reset instead of a farewell.
RESET = struct.pack("ii", 1, 0)


class Exchange:
    """A request and what became of it."""

    __slots__ = ("answered", "begun", "connection", "outcome", "reply", "request", "size")

    def __init__(self, connection: int, request: framing.Request, size: int) -> None:
        self.connection = connection
        self.request = request
        self.size = size
        self.begun = time.time()
        self.outcome = "open"
        self.reply: int | None = None
        self.answered: float | None = None


class End(asyncio.Protocol):
    """One end: what comes from it is cut into frames; what goes to it waits in a lane."""

    def __init__(self, received: Callable[[bytes], None], connection: Connection) -> None:
        self._received = received
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._holds: set[str] = set()
        self._lane: deque[tuple[float, bytes, Callable[[], None] | None]] = deque()
        self._waiting = 0
        self._wake: asyncio.TimerHandle | None = None
        self._finish = self._finished = self._ended = False
        self.splitter = framing.Splitter()
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
        self._lane.clear()
        if reset and (line := self.transport.get_extra_info("socket")) is not None:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.transport.close()
        self._loop.call_later(FLUSH, self.transport.abort)

    def half_close(self) -> None:
        """Tell this end that no more will come, and go on taking what comes from it."""
        self._lane.clear()
        self.finish()

    # --- What asyncio tells --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        if self._holds:
            self.transport.pause_reading()
        self._deliver()

    def data_received(self, data: bytes) -> None:
        for frame in self.splitter.feed(data):
            if self.transport.is_closing():
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


class Connection:
    def __init__(self, server: Server, route: Route, number: int) -> None:
        self.route = route
        self.number = number
        self.source: int | None = None
        self.client_ids: set[str | None] = set()
        self._server = server
        self._ended = False
        self._mute = False
        # Without an answer, by correlation id; and answered, with the answer still on its way.
        self._open: dict[int, Exchange] = {}
        self._late: set[Exchange] = set()
        self.client = End(self._request, self)
        self.broker = End(self._reply, self)

    def other(self, end: End) -> End:
        return self.broker if end is self.client else self.client

    def accept(self) -> End:
        """The client's end; the way to the broker is opened at once."""
        self._opening = asyncio.ensure_future(self._connect())
        return self.client

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: self.broker, "127.0.0.1", self.route.target)
        except OSError:
            # The broker is down. An accepted connection cannot be refused any more.
            self.end(reset=True)
        else:
            if self._ended:
                self.broker.end(reset=False)

    def end(self, reset: bool) -> None:
        """Close both ends; requests without an answer are lost."""
        if self._ended:
            return
        self._ended = True
        for exchange in (*self._open.values(), *self._late):
            if exchange.outcome == "open":
                exchange.outcome = "lost"
        self._server.connections.discard(self)
        self._server.muted.discard(self)
        self.client.end(reset)
        self.broker.end(reset=False)

    def lost(self) -> None:
        self.end(reset=False)

    def mute(self) -> None:
        """The client hears nothing more, as an answer without the ones before it is none."""
        self._mute = True
        self._server.muted.add(self)

    def half_close(self) -> None:
        self.mute()
        self.client.half_close()

    async def gone(self) -> None:
        await self.client.gone.wait()
        await self.broker.gone.wait()

    def _request(self, frame: bytes) -> None:
        if self.client.splitter.opaque:
            self.broker.send(frame)
            return
        request = framing.request(frame)
        self.client_ids.add(request.client_id)
        if self.source is None and self.route.between == NODES:
            self.source = framing.node(request.client_id)
        exchange = Exchange(self.number, request, len(frame))
        if request.client_id != OWN:
            self._server.record(self.route, self.source, exchange)
        if self._server.faults.forbids(self.route, self.source, request):
            exchange.outcome = "refused"
            self.end(reset=True)
            return
        if request.acks == 0:
            exchange.outcome = "unasked"
        else:
            self._open[request.correlation] = exchange
        now = asyncio.get_running_loop().time()
        self.broker.send(
            frame, self._server.faults.due(now, self.route, "request", request, len(frame))
        )

    def _reply(self, frame: bytes) -> None:
        if self.broker.splitter.opaque or self.client.splitter.opaque:
            self.client.send(frame)
            return
        exchange = self._open.pop(framing.correlation(frame), None)
        if exchange is None:
            if not self._mute:
                self.client.send(frame)
            return
        exchange.reply = len(frame)
        faults, request = self._server.faults, exchange.request
        if self._mute:
            exchange.outcome = "lost"
        elif request.client_id != OWN and (rule := faults.drops(self.route, request)):
            exchange.outcome = "dropped"
            if rule.silent:
                self.mute()
            else:
                self.end(reset=True)
        else:
            now = asyncio.get_running_loop().time()
            due = faults.due(now, self.route, "reply", request, len(frame))
            self._late.add(exchange)
            self.client.send(frame, due, lambda: self._answered(exchange))

    def _answered(self, exchange: Exchange) -> None:
        self._late.discard(exchange)
        exchange.outcome = "answered"
        exchange.answered = time.time()
