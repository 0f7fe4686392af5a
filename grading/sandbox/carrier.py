"""The way of a hand-in to the brokers: the only network that its sandbox has.

A cell of ours, before any of the student's, listens inside at the addresses that the brokers
advertise, and hands its listening sockets out through a Unix socket. The grader accepts on them
and talks to the brokers. So no address is rewritten, nothing of ours runs inside, and no other
address of the machine can be reached. Little of what passes is read (barred.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from grading.sandbox.barred import Barred, Sieve

HERE = "127.0.0.1"
MOST = 500  # connections at once
CHUNK = 256 * 1024
AGAIN = 0.05  # seconds between two looks at a broker that refused
PATIENCE = 30.0
AT_ONCE = struct.pack("ii", 1, 0)
BACKLOG = 128


class Carrier:
    """Carries what passes between a sandbox and the brokers at `ports`. Made before the hand-over.

    `path` is where the sandbox hands its sockets over; it takes them once, and is gone then.
    """

    def __init__(self, path: Path, ports: Sequence[int]) -> None:
        self._ports = list(ports)
        self._place = path
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(path))
        self._door.listen(1)
        self._open = 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        self._door.settimeout(PATIENCE)
        with contextlib.suppress(OSError, ValueError), self._door:
            line, _ = self._door.accept()
            with line:
                said, descriptors, _, _ = socket.recv_fds(line, 10_000, len(self._ports))
                self._place.unlink()
                listening = [socket.socket(fileno=one) for one in descriptors]
                if json.loads(said) != self._ports or len(listening) != len(self._ports):
                    return
                line.sendall(b"1")
            asyncio.run(self._carry(listening))

    async def _carry(self, listening: list[socket.socket]) -> None:
        await asyncio.gather(*map(self._serve, listening, self._ports))

    async def _serve(self, listening: socket.socket, port: int) -> None:
        """One broker: accept as long as it does, and refuse while it refuses."""
        while True:
            refused = asyncio.Event()

            async def accepted(
                reader: asyncio.StreamReader,
                writer: asyncio.StreamWriter,
                refused: asyncio.Event = refused,
            ) -> None:
                await self._connection(reader, writer, port, refused)

            server = await asyncio.start_server(accepted, sock=listening.dup(), backlog=BACKLOG)
            await refused.wait()
            server.close()
            # It keeps its port; who connects meanwhile is refused, as by the broker.
            with contextlib.suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            while not await _accepts(port):
                await asyncio.sleep(AGAIN)

    async def _connection(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        port: int,
        refused: asyncio.Event,
    ) -> None:
        if self._open >= MOST:
            _reset(writer)
            return
        self._open += 1
        try:
            theirs, out = await asyncio.open_connection(HERE, port)
        except OSError:
            _reset(writer)
            refused.set()
            self._open -= 1
            return
        ways = [
            asyncio.ensure_future(_copy(reader, out, Sieve().feed)),
            asyncio.ensure_future(_copy(theirs, writer)),
        ]
        try:
            await asyncio.gather(*ways)
        except (OSError, Barred):
            for end in (writer, out):
                _reset(end)
        finally:
            for way in ways:
                way.cancel()
            for end in (writer, out):
                end.close()
            self._open -= 1


async def _copy(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    allowed: Callable[[bytes], bytes] = bytes,
) -> None:
    while data := await reader.read(CHUNK):
        writer.write(allowed(data))
        await writer.drain()
    writer.write_eof()


async def _accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(HERE, port)
    except OSError:
        return False
    writer.close()
    return True


def _reset(writer: asyncio.StreamWriter) -> None:
    """Let the other side see a connection that broke."""
    way = writer.get_extra_info("socket")
    if way is not None:
        with contextlib.suppress(OSError):
            way.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    writer.transport.abort()
