"""One connection through the gateway: whole frames from one end to the other.

Nothing is handed on before all of a frame is there, so neither end ever gets a part of one that
the other end had not finished.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from kafkalab.gateway import fetched, framing, produced
from kafkalab.gateway.end import End
from kafkalab.gateway.faults import OWN
from kafkalab.gateway.routes import CLIENTS, NODES, Route

if TYPE_CHECKING:
    from kafkalab.gateway.server import Server


class Exchange:
    """A request and what became of it."""

    __slots__ = (
        *("answered", "batches", "begun", "connection", "error", "fetched", "outcome"),
        *("reply", "request", "size"),
    )

    def __init__(self, connection: int, request: framing.Request, frame: bytes) -> None:
        self.connection = connection
        self.request = request
        self.size = len(frame)
        self.batches = produced.batches(frame, request)
        self.begun = time.time()
        self.outcome = "open"
        self.reply: int | None = None
        self.error: int | None = None
        self.fetched: list[fetched.Fetched] = []
        self.answered: float | None = None


class Passage:
    """`source` is the node that opened it, if one did; `client_ids` are who sent through it."""

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
        """The end opposite."""
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
        """One end is gone; so is the other."""
        self.end(reset=False)

    def mute(self) -> None:
        """The client hears nothing more, as an answer without the ones before it is none."""
        self._mute = True
        self._server.muted.add(self)

    def half_close(self) -> None:
        """The client hears that nothing more comes, and may go on sending."""
        self.mute()
        self.client.half_close()

    async def gone(self) -> None:
        """Until both ends are closed."""
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
        exchange = Exchange(self.number, request, frame)
        if request.client_id != OWN:
            self._server.record(self.route, self.source, exchange)
        if self._server.faults.forbids(self.route, self.source, request):
            exchange.outcome = "refused"
            self.end(reset=True)
            return
        if self._server.faults.holds(self.route, request):
            exchange.outcome = "held"
            self._server.hold(self.route, frame, exchange)
            self.mute()
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
        exchange.error = framing.error(frame, exchange.request)
        if self.route.between == CLIENTS:
            exchange.fetched = fetched.records(frame, exchange.request)
        faults, request = self._server.faults, exchange.request
        if self._mute:
            exchange.outcome = "lost"
        elif rule := faults.drops(self.route, request):
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
