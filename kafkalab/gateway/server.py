"""The gateway's process: one loop that listens, forwards and takes orders.

    python -m kafkalab.gateway.server -Dkafkalab.slot=FOLDER

It is a process of its own so that a notebook's kernel, busy with its cells, slows no connection.
The argument is the mark by which a slot's clean-up finds everything that belongs to it. Orders
come over a Unix socket in the slot's folder that its user alone can open: one line of JSON each,
answered with lines of JSON when they have taken effect.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from itertools import count
from pathlib import Path
from typing import Any

from kafkalab.gateway.faults import CUT, Faults, Rule
from kafkalab.gateway.framing import LENGTH
from kafkalab.gateway.orders import DONE, SOCKET
from kafkalab.gateway.passage import Exchange, Passage
from kafkalab.gateway.routes import CLIENTS, NODES, Route, read

# The oldest records go first; one takes some 500 bytes.
RECORDS = 1_000_000
CHUNK = 2_000
# Seconds for a broker to answer a request that was held.
LATEST_ANSWER = 10


class Relay:
    """The listening side of a route.

    A closed one keeps its port without listening, so that connections are refused and nobody else
    takes the port.
    """

    def __init__(self, server: Server, route: Route) -> None:
        self.route = route
        self._server = server
        self._accepting: asyncio.Server | None = None
        self._place = _bound(route.listen)

    async def set(self, closed: bool) -> None:
        if closed and self._accepting:
            self._accepting.close()
            self._accepting = None
            self._place = _bound(self.route.listen)
        elif not closed and not self._accepting:
            loop = asyncio.get_running_loop()
            self._accepting = await loop.create_server(self._accept, sock=self._place, backlog=512)

    def _accept(self) -> asyncio.Protocol:
        return self._server.connect(self.route).accept()


class Server:
    """All listeners of one gateway, its rules, and what passed."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.faults = Faults()
        self.connections: set[Passage] = set()
        # Connections on which the client waits for what will not come.
        self.muted: set[Passage] = set()
        self._relays = [Relay(self, route) for route in routes]
        self._numbers = count(1)
        self._records: deque[tuple[Route, int | None, Exchange]] = deque(maxlen=RECORDS)
        self._held: list[tuple[Route, bytes, Exchange]] = []

    async def run(self, path: Path) -> None:
        await self._listen()
        before = os.umask(0o177)
        orders = await asyncio.start_unix_server(self._order, path)
        os.umask(before)
        await orders.serve_forever()

    def connect(self, route: Route) -> Passage:
        connection = Passage(self, route, next(self._numbers))
        self.connections.add(connection)
        return connection

    def record(self, route: Route, source: int | None, exchange: Exchange) -> None:
        self._records.append((route, source, exchange))

    def hold(self, route: Route, frame: bytes, exchange: Exchange) -> None:
        self._held.append((route, frame, exchange))

    # --- Orders --------------------------------------------------------------------------------

    async def _order(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            order = json.loads(await reader.readline())
            do = getattr(self, f"do_{order.pop('do')}")
            for place, line in enumerate(await do(**order)):
                writer.write(json.dumps(line).encode() + b"\n")
                if place % CHUNK == 0:
                    await writer.drain()  # and let the traffic have its turn
            writer.write(json.dumps(DONE).encode() + b"\n")
            await writer.drain()
        writer.close()

    async def do_rule(self, **fields: Any) -> Iterable[Any]:
        """A new fault."""
        rule = Rule(**fields)
        self.faults.rules.append(rule)
        if rule.kind == CUT and rule.apis is None:
            await self._listen()
            await self._end(
                c
                for c in self.connections
                if rule.concerns(c.route) and (rule.whole or rule.client_id in c.client_ids)
            )
        return []

    async def do_isolate(self, node: int) -> Iterable[Any]:
        """Cut a node off from the other nodes, in both directions."""
        self.faults.isolated.add(node)
        await self._listen()
        await self._end(
            c
            for c in self.connections
            if c.route.between == NODES and node in (c.route.node, c.source)
        )
        return []

    async def do_heal(self, broker: int | None) -> Iterable[Any]:
        self.faults.heal(broker)
        self._held = [held for held in self._held if broker not in (None, held[0].node)]
        await self._end(c for c in self.muted if broker in (None, c.route.node))
        await self._listen()
        return []

    async def do_half_close(self, broker: int | None, client_id: str | None) -> Iterable[Any]:
        chosen = self._of_clients(broker, client_id)
        for connection in chosen:
            connection.half_close()
        return [len(chosen)]

    async def do_reset(self, broker: int | None, client_id: str | None) -> Iterable[Any]:
        chosen = self._of_clients(broker, client_id)
        await self._end(chosen)
        return [len(chosen)]

    async def do_release(self) -> Iterable[Any]:
        """Deliver what was held, each over a connection of its own: the first may be long gone."""
        held, self._held = self._held, []
        answers = []
        for route, frame, exchange in held:
            exchange.outcome = "late"
            if exchange.request.acks == 0:
                await _deliver(route, frame)
                continue
            answer = await _deliver(route, frame, answered=True)
            exchange.reply = len(answer)
            request = exchange.request
            answers.append([request.api, request.version, answer.hex()])
        return answers

    async def do_clear(self) -> Iterable[Any]:
        self._records.clear()
        return []

    async def do_frames(self) -> Iterator[Any]:
        return (_line(*record) for record in list(self._records))

    def _of_clients(self, broker: int | None, client_id: str | None) -> list[Passage]:
        return [
            c
            for c in self.connections
            if c.route.between == CLIENTS
            and broker in (None, c.route.node)
            and (client_id is None or client_id in c.client_ids)
        ]

    async def _listen(self) -> None:
        for relay in self._relays:
            await relay.set(self.faults.closed(relay.route))

    async def _end(self, connections: Iterable[Passage]) -> None:
        ending = list(connections)
        for connection in ending:
            connection.end(reset=True)
        for connection in ending:
            await connection.gone()


def _line(route: Route, source: int | None, seen: Exchange) -> list[Any]:
    request = seen.request
    return [
        *(seen.connection, route.node, route.between, source),
        *(request.api, request.version, request.correlation, request.client_id),
        *(seen.size, seen.reply, seen.begun, seen.answered, seen.outcome),
        *(request.acks, request.transactional_id, request.group, seen.error),
        [astuple(batch) for batch in seen.batches],
        [astuple(some) for some in seen.fetched],
    ]


async def _deliver(route: Route, frame: bytes, answered: bool = False) -> bytes:
    """Send a frame to a broker; the whole frame of its answer, where it is to give one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", route.target)
    try:
        writer.write(frame)
        await writer.drain()
        if not answered:
            return b""
        async with asyncio.timeout(LATEST_ANSWER):
            length = await reader.readexactly(LENGTH.size)
            return length + await reader.readexactly(LENGTH.unpack(length)[0])
    finally:
        writer.close()


def _bound(port: int) -> socket.socket:
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    place.bind(("127.0.0.1", port))
    return place


def main(folder: Path) -> None:
    asyncio.run(Server(read(folder)).run(folder / SOCKET))


if __name__ == "__main__":
    main(Path(sys.argv[1].partition("=")[2]))
