"""The gateway's process before two plain servers that answer each frame: no broker is needed to
see what it does with bytes. What it does to Kafka's clients is in test_gateway.
"""

import contextlib
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkalab.errors import CourseError
from kafkalab.gateway import Gateway, Route
from kafkalab.wait import wait_until

pytestmark = pytest.mark.process


class Answering:
    """Answers a frame with its correlation id and as many bytes as it had."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        with line, contextlib.suppress(OSError, EOFError):
            while True:
                frame = receive(line)
                self.received.append(frame)
                line.sendall(framed(frame[8:12] + frame[12:]))

    def close(self) -> None:
        self._listening.close()


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def request(correlation: int, api: int = 3, client_id: bytes = b"me", size: int = 10) -> bytes:
    header = struct.pack(">hhih", api, 12, correlation, len(client_id)) + client_id
    return framed(header + bytes(size))


def receive(line: socket.socket) -> bytes:
    length = exactly(line, 4)
    return length + exactly(line, struct.unpack(">i", length)[0])


def exactly(line: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = line.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def free_ports(count: int) -> list[int]:
    """All different: each is held until the last is found."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[int, Answering]]:
    servers = {0: Answering(), 1: Answering()}
    yield servers
    for server in servers.values():
        server.close()


@pytest.fixture(scope="module")
def routes(servers: dict[int, Answering]) -> list[Route]:
    wanted = [(n, between) for between in ("clients", "nodes") for n in servers]
    return [
        Route(n, between, port, servers[n].port)
        for (n, between), port in zip(wanted, free_ports(len(wanted)), strict=True)
    ]


@pytest.fixture(scope="module")
def running(routes: list[Route]) -> Iterator[Gateway]:
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway.start(Path(folder), routes, f"-Dkafkalab.slot={folder}")
        try:
            yield gateway
        finally:
            gateway.close()


@contextlib.contextmanager
def one_route(target: int) -> Iterator[tuple[Gateway, Route]]:
    route = Route(0, "clients", *free_ports(1), target)
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway.start(Path(folder), [route], f"-Dkafkalab.slot={folder}")
        try:
            yield gateway, route
        finally:
            gateway.close()


@pytest.fixture
def gateway(running: Gateway) -> Iterator[Gateway]:
    running.clear()
    yield running
    running.heal()


def connect(routes: list[Route], node: int = 0, between: str = "clients") -> socket.socket:
    (port,) = (r.listen for r in routes if (r.node, r.between) == (node, between))
    return socket.create_connection(("127.0.0.1", port), timeout=5)


def ask(line: socket.socket, frame: bytes) -> bytes:
    line.sendall(frame)
    return receive(line)


def is_reset(line: socket.socket) -> bool:
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True


def test_bytes_pass_unchanged_in_any_pieces(gateway: Gateway, routes: list[Route]) -> None:
    frames = [request(number, size=size) for number, size in enumerate((0, 1, 70_000, 3_000_000))]
    stream = b"".join(frames)
    with connect(routes) as line:
        threading.Thread(
            target=lambda: [
                line.sendall(stream[n : n + 9_973]) for n in range(0, len(stream), 9_973)
            ]
        ).start()
        assert [receive(line) for _ in frames] == [framed(f[8:]) for f in frames]
    seen = gateway.frames("Metadata")
    assert [f.request_bytes for f in seen] == [len(frame) for frame in frames]
    assert [f.response_bytes for f in seen] == [len(frame) - 4 for frame in frames]


def test_half_a_frame_reaches_nobody(
    gateway: Gateway, routes: list[Route], servers: dict[int, Answering]
) -> None:
    before = len(servers[0].received)
    with connect(routes) as line:
        line.sendall(request(1)[:-1])
    with connect(routes) as line:
        ask(line, request(2))
    assert [frame[8:12] for frame in servers[0].received[before:]] == [struct.pack(">i", 2)]


def test_what_is_no_frame_passes_as_well() -> None:
    hello = bytes.fromhex("160301020001000001")  # how TLS begins
    with (
        socket.create_server(("127.0.0.1", 0)) as secure,
        one_route(secure.getsockname()[1]) as (other, route),
        connect([route]) as line,
    ):
        taken, _ = secure.accept()
        line.sendall(hello)
        assert exactly(taken, len(hello)) == hello
        taken.sendall(hello[::-1])
        assert exactly(line, len(hello)) == hello[::-1]
        taken.close()
        assert not other.frames()


def test_a_cut_refuses_and_resets_and_healing_undoes_it(
    gateway: Gateway, routes: list[Route]
) -> None:
    with connect(routes) as line, connect(routes, 1) as other, connect(routes, 0, "nodes") as node:
        for one in (line, other, node):
            ask(one, request(1))
        gateway.cut(0)
        with pytest.raises(ConnectionRefusedError):
            connect(routes)
        assert is_reset(line)
        ask(other, request(2))
        ask(node, request(2))
        gateway.heal(0)
    with connect(routes) as line:
        ask(line, request(3))


def test_an_isolated_node_is_cut_off_in_both_directions(
    gateway: Gateway, routes: list[Route]
) -> None:
    with connect(routes, 0, "nodes") as from_one, connect(routes, 0, "nodes") as from_two:
        ask(from_one, request(1, client_id=b"broker-1-fetcher-0"))
        ask(from_two, request(1, client_id=b"raft-client-2"))
        gateway.isolate(1)
        assert is_reset(from_one)
        ask(from_two, request(2, client_id=b"raft-client-2"))
    with connect(routes, 0, "nodes") as again:
        again.sendall(request(3, client_id=b"1"))
        assert is_reset(again)
    with pytest.raises(ConnectionRefusedError):
        connect(routes, 1, "nodes")
    with connect(routes, 1) as client:
        ask(client, request(4))
    assert gateway.frames(between="nodes")[-1].outcome == "refused"


def test_a_dropped_answer_resets_or_leaves_silence(
    gateway: Gateway, routes: list[Route], servers: dict[int, Answering]
) -> None:
    gateway.drop_replies("Produce", "Metadata", count=1)
    with connect(routes) as line:
        line.sendall(request(1))
        assert is_reset(line)
    gateway.drop_replies("Metadata", count=1, silent=True)
    with connect(routes) as line:
        line.settimeout(0.2)
        for correlation in (2, 3):
            line.sendall(request(correlation))
            wait_until(
                lambda number=correlation: servers[0].received[-1][11] == number,
                timeout=5,
                what="the request to arrive",
            )
            with pytest.raises(TimeoutError):
                line.recv(1)
        gateway.heal()
        assert is_reset(line)
    assert [frame.outcome for frame in gateway.frames()] == ["dropped", "dropped", "lost"]
    assert [frame[11] for frame in servers[0].received[-3:]] == [1, 2, 3]


def test_delayed_frames_keep_their_order(gateway: Gateway, routes: list[Route]) -> None:
    gateway.delay(200, api="Fetch")
    with connect(routes) as line:
        began = time.monotonic()
        line.sendall(request(1, api=1) + request(2))
        assert [receive(line)[7], receive(line)[7]] == [1, 2]
        assert time.monotonic() - began >= 0.2


def test_a_half_closed_connection_still_takes_requests(
    gateway: Gateway, routes: list[Route], servers: dict[int, Answering]
) -> None:
    with connect(routes) as line:
        # A name of its own: connections of the tests before may still be about to end.
        ask(line, request(1, client_id=b"half"))
        assert gateway.half_close(0, client_id="half") == 1
        assert line.recv(1) == b""
        line.sendall(request(99, client_id=b"half"))
        wait_until(
            lambda: servers[0].received[-1][11] == 99, timeout=5, what="the request to arrive"
        )


def test_a_client_that_says_it_is_done_still_gets_its_answers(
    gateway: Gateway, routes: list[Route]
) -> None:
    gateway.delay(100)
    with connect(routes) as line:
        line.sendall(request(1))
        line.shutdown(socket.SHUT_WR)
        assert receive(line)[7] == 1
        assert line.recv(1) == b""


def test_a_server_that_is_down_resets() -> None:
    with socket.socket() as down:
        down.bind(("127.0.0.1", 0))  # the port is its own, and nobody listens
        with one_route(down.getsockname()[1]) as (gateway, route):
            # The reset may come before this side has heard that the connection is made.
            with contextlib.suppress(ConnectionResetError), connect([route]) as line:
                assert is_reset(line)
            gateway.close()
            with pytest.raises(CourseError, match="does not answer"):
                gateway.clear()


def test_a_port_that_is_taken_is_named(tmp_path: Path, servers: dict[int, Answering]) -> None:
    route = Route(0, "clients", servers[0].port, 1)
    with pytest.raises(CourseError, match=r"(?s)ended while it started.*in use"):
        Gateway.start(tmp_path, [route], f"-Dkafkalab.slot={tmp_path}")


def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 100)
    with pytest.raises(CourseError, match="KAFKALAB_STATE"):
        Gateway.start(folder, [], "")


def test_orders_are_for_its_user_alone(running: Gateway) -> None:
    mode = (running._folder / "gateway.sock").stat().st_mode
    assert mode & 0o777 == 0o600
