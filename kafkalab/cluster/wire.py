"""Ask one Kafka node one question, with a deadline.

A client library keeps state: connections, an idea of who leads, back-off after failures. That is
right for a client and wrong for a view of a cluster that is being broken on purpose. Here every
question goes over a new connection to the node that the caller names, and what comes back is what
that node knows now. The requests and responses are kafka-python's own classes.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any

from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from kafkalab.errors import CourseError

CLIENT_ID = "kafkalab"
GRACE = 0.5  # seconds for the other brokers, once one of them has answered
# The newest versions that both kafka-python 3.0 and Kafka 4.3 speak.
VERSIONS = {
    "ApiVersionsRequest": 4,
    "ConsumerGroupDescribeRequest": 1,  # its schema is ours
    "CreateTopicsRequest": 7,
    "DescribeConfigsRequest": 4,
    "DescribeGroupsRequest": 5,
    "DescribeLogDirsRequest": 4,
    "DescribeQuorumRequest": 2,
    "DescribeTopicPartitionsRequest": 0,
    "FindCoordinatorRequest": 4,
    "InitProducerIdRequest": 4,
    "ListGroupsRequest": 5,
    "ListOffsetsRequest": 9,
    "ListTransactionsRequest": 0,
    "MetadataRequest": 12,
    "OffsetFetchRequest": 8,
    "ShareGroupDescribeRequest": 1,
}


class NoConnection(CourseError):
    """Nobody accepts connections at the address."""


class NoKafka(CourseError):
    """Somebody accepts connections, but does not speak Kafka's protocol in plain text."""


class NoMetadata(CourseError):
    """A Kafka node answers, but does not tell who is in the cluster."""


class Connection:
    """A connection to one node. The deadline holds for everything done with it."""

    def __init__(self, address: str, timeout: float) -> None:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise NoConnection(f"{address!r} is not an address.", "An address is HOST:PORT.")
        self.address = address
        self._deadline = time.monotonic() + timeout
        try:
            self._socket = socket.create_connection((host, int(port)), timeout)
        except OSError as error:
            raise NoConnection(
                f"There is no broker at {address}: the connection failed.",
                f"The system says: {error.strerror or error}.",
                "Compare with cluster.address, or see what is running: ./course status",
            ) from error

    def ask(self, request: Any) -> Any:
        """The response; an OSError or EOFError where none comes."""
        request.API_VERSION = VERSIONS[type(request).__name__]
        request.with_header(0, CLIENT_ID)
        self._socket.settimeout(self._left())
        self._socket.sendall(request.encode(header=True, framed=True))
        (length,) = struct.unpack(">i", self._receive(4))
        if not 4 <= length < 100_000_000:
            raise EOFError("the answer is not one of Kafka's protocol")
        kind = request.header.get_response_class()
        return kind.decode(self._receive(length), header=True)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _receive(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            self._socket.settimeout(self._left())
            part = self._socket.recv(length - len(data))
            if not part:
                raise EOFError("the connection was closed")
            data += part
        return bytes(data)

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        return left


def ask(address: str, request: Any, timeout: float = 2) -> Any:
    """One question to one node."""
    with Connection(address, timeout) as connection:
        return connection.ask(request)


def metadata(address: str, topics: Sequence[str] | None = (), timeout: float = 2) -> Any:
    """What one broker knows of the living brokers and of topics (None: of all)."""
    wanted = (
        None
        if topics is None
        else [MetadataRequest.MetadataRequestTopic(name=t, topic_id=None) for t in topics]
    )
    return ask(address, MetadataRequest(topics=wanted, allow_auto_topic_creation=False), timeout)


def metadata_offset(address: str, timeout: float = 2) -> int:
    """The offset of the newest metadata that a broker shows; what came before it is in force."""
    question = ApiVersionsRequest(client_software_name="kafkalab", client_software_version="1")
    return int(ask(address, question, timeout).finalized_features_epoch)


def answering(address: str, timeout: float = 5) -> str:
    """Those of several addresses (`HOST:PORT,HOST:PORT`) where a broker answers.

    Where none does, the error names the first step that failed at the first of them: the
    connection, the protocol, or the metadata.
    """
    each = [one.strip() for one in address.split(",")]
    heard: dict[str, Exception | None] = {}
    news = threading.Condition()

    def ask(one: str) -> None:
        failure = None
        try:
            _steps(one, timeout)
        except Exception as error:  # it is raised where it was asked for
            failure = error
        with news:
            heard[one] = failure
            news.notify_all()

    for one in each:
        threading.Thread(target=ask, args=(one,), daemon=True).start()
    with news:
        news.wait_for(lambda: None in heard.values() or len(heard) == len(each))
        # One is enough for a client. A broker that stands still would keep it for the whole time.
        news.wait_for(lambda: len(heard) == len(each), GRACE)
        found = [one for one in each if one in heard and heard[one] is None]
        if not found:
            raise next(failure for one in each if (failure := heard[one]) is not None)
    return ",".join(found)


def _steps(address: str, timeout: float) -> None:
    with Connection(address, timeout) as connection:
        try:
            connection.ask(
                ApiVersionsRequest(client_software_name="kafkalab", client_software_version="1")
            )
        except (OSError, EOFError, struct.error, ValueError) as error:
            raise NoKafka(
                f"{address} accepts connections, but does not answer as a Kafka broker.",
                f"The first request of the protocol failed: {_reason(error)}.",
                "Is this the port of another program, or a listener with TLS or SASL?",
            ) from error
        try:
            answer = connection.ask(MetadataRequest(topics=[], allow_auto_topic_creation=False))
        except (OSError, EOFError, struct.error, ValueError) as error:
            raise NoMetadata(
                f"{address} speaks Kafka's protocol, but does not tell who is in the cluster.",
                f"The request for metadata failed: {_reason(error)}.",
                "Is this the port of a controller? Clients talk to brokers.",
            ) from error
    if not answer.brokers:
        raise NoMetadata(
            f"The broker at {address} knows of no living broker.",
            "It has not reached the controller yet, or has lost it.",
        )


def brokers(answer: Any) -> dict[int, str]:
    """Node id -> address, from a metadata response."""
    return {broker.node_id: f"{broker.host}:{broker.port}" for broker in answer.brokers}


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(error) or type(error).__name__
