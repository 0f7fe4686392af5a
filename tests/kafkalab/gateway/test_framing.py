"""Frames are the same however the network cuts them up; headers say what kafka-python wrote."""

import struct
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.producer import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    TxnOffsetCommitRequest,
)
from kafka.protocol.schemas.fields.codecs import UnsignedVarInt32

from kafkalab.gateway import framing
from kafkalab.gateway.framing import Request, Splitter

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def encoded(
    request: Any, version: int, client_id: str | None = "me", correlation: int = 7
) -> bytes:
    request.API_VERSION = version
    request.with_header(correlation, client_id)
    return request.encode(header=True, framed=True)


@given(bodies=st.lists(st.binary(max_size=200), max_size=8), cuts=st.lists(st.integers(0, 2000)))
def test_any_cutting_of_the_bytes_gives_the_same_frames(
    bodies: list[bytes], cuts: list[int]
) -> None:
    frames = [framed(body) for body in bodies]
    stream = b"".join(frames)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    splitter = Splitter()
    found = [frame for start, end in pairwise(places) for frame in splitter.feed(stream[start:end])]
    assert found == frames
    assert not splitter.opaque


@given(body=st.binary(min_size=1, max_size=50), size=st.integers(0, 49))
def test_a_part_of_a_frame_is_kept_back(body: bytes, size: int) -> None:
    frame = framed(body)
    assert Splitter().feed(frame[: min(4 + size, len(frame) - 1)]) == []


@given(chunks=st.lists(st.binary(min_size=1, max_size=40), min_size=1))
def test_what_is_not_kafka_passes_as_it_is(chunks: list[bytes]) -> None:
    # A TLS handshake begins so; as a length it would be far too much.
    splitter, hello = Splitter(), bytes.fromhex("160301020001000001")
    assert splitter.feed(framed(b"first")) == [framed(b"first")]
    assert splitter.feed(hello) == [hello]
    assert splitter.opaque
    assert [splitter.feed(chunk) for chunk in chunks] == [[chunk] for chunk in chunks]


@given(client_id=st.none() | names, correlation=st.integers(0, 2**31 - 1))
def test_the_header_says_who_asks_what(client_id: str | None, correlation: int) -> None:
    frame = encoded(MetadataRequest(topics=[]), 12, client_id, correlation)
    assert framing.request(frame) == Request(3, 12, correlation, client_id)


@given(data=st.binary(max_size=60))
def test_no_bytes_upset_the_reader(data: bytes) -> None:
    assert isinstance(framing.request(framed(data)), Request)
    assert isinstance(framing.correlation(framed(data)), int)


@given(
    version=st.integers(0, 13), name=st.none() | names, acks=st.sampled_from([-1, 0, 1]), me=names
)
def test_a_produce_request_tells_what_it_waits_for(
    version: int, name: str | None, acks: int, me: str
) -> None:
    request = ProduceRequest(transactional_id=name, acks=acks, timeout_ms=1000, topic_data=[])
    read = framing.request(encoded(request, version, me))
    # Before version 3 there were no transactions.
    assert (read.acks, read.transactional_id) == (acks, name if version >= 3 else None)
    assert (read.client_id, read.group) == (me, None)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (InitProducerIdRequest, {"transaction_timeout_ms": 1}),
        (AddOffsetsToTxnRequest, {"producer_id": 5, "producer_epoch": 0, "group_id": "g"}),
        (EndTxnRequest, {"producer_id": 5, "producer_epoch": 0, "committed": True}),
        (TxnOffsetCommitRequest, {"group_id": "g", "topics": []}),
    ],
)
@given(data=st.data(), name=names)
def test_a_transaction_is_known_by_its_name(
    kind: Any, fields: dict[str, Any], data: st.DataObject, name: str
) -> None:
    version = data.draw(st.integers(kind.min_version, kind.max_version))
    read = framing.request(encoded(kind(transactional_id=name, **fields), version))
    assert (read.transactional_id, read.group, read.acks) == (name, None, None)


@given(version=st.integers(0, 5), name=names)
def test_partitions_join_a_transaction_by_name_until_brokers_send_several(
    version: int, name: str
) -> None:
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=name,
        v3_and_below_producer_id=5,
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=[],
        transactions=[],
    )
    read = framing.request(encoded(request, version))
    assert read.transactional_id == (name if version <= 3 else None)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (OffsetCommitRequest, {"topics": []}),
        (JoinGroupRequest, {"protocol_type": "consumer", "protocols": []}),
        (HeartbeatRequest, {"generation_id": 1, "member_id": "m"}),
        (LeaveGroupRequest, {"member_id": "m", "members": []}),
        (SyncGroupRequest, {"generation_id": 1, "member_id": "m", "assignments": []}),
    ],
)
@given(data=st.data(), name=names)
def test_a_group_is_known_by_its_name(
    kind: Any, fields: dict[str, Any], data: st.DataObject, name: str
) -> None:
    version = data.draw(st.integers(kind.min_version, kind.max_version))
    read = framing.request(encoded(kind(group_id=name, **fields), version))
    assert (read.group, read.transactional_id, read.acks) == (name, None, None)


def test_a_group_of_the_new_protocol_is_known_by_its_name() -> None:
    # kafka-python does not write this request: ConsumerGroupHeartbeat 1 with one tagged field.
    header = struct.pack(">hhih", 68, 1, 9, 2) + b"me" + b"\x01\x05\x02ab"
    read = framing.request(framed(header + b"\x06group" + b"\x00" * 20))
    assert read == Request(68, 1, 9, "me", group="group")


@pytest.mark.parametrize(
    ("client_id", "node"),
    [
        ("broker-2-fetcher-0", 2),
        ("broker-12-txn-marker-sender", 12),
        ("raft-client-100", 100),
        ("AddPartitionsManager-client-1", 1),
        ("0", 0),
        ("consumer", None),
        ("", None),
        (None, None),
    ],
)
def test_nodes_are_known_by_how_they_name_themselves(
    client_id: str | None, node: int | None
) -> None:
    assert framing.node(client_id) == node


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("code", [0, 14, 53])
def test_a_refused_producer_id_is_told(version: int, code: int) -> None:
    answer = InitProducerIdResponse(
        throttle_time_ms=0, error_code=code, producer_id=4_000, producer_epoch=1
    )
    answer.API_VERSION = version
    answer.with_header(7)
    frame = answer.encode(header=True, framed=True)
    assert framing.error(frame, Request(22, version)) == code
    assert framing.error(frame, Request(3, version)) is None
    assert framing.error(frame[:9], Request(22, version)) is None


@pytest.mark.parametrize("size", [-1, 0, 1, 126, 127, 100_000])
@pytest.mark.parametrize("flexible", [False, True])
def test_a_count_is_read_as_the_field_was_written(size: int, flexible: bool) -> None:
    written = UnsignedVarInt32.encode(size + 1) if flexible else struct.pack(">i", size)
    assert framing.count(b"ab" + written + b"c", 2, flexible) == (size, 2 + len(written))


@given(fields=st.dictionaries(st.integers(0, 300), st.binary(max_size=200), max_size=3))
def test_fields_of_later_versions_are_passed_over(fields: dict[int, bytes]) -> None:
    number = UnsignedVarInt32.encode
    written = number(len(fields))
    for tag, content in sorted(fields.items()):
        written += number(tag) + number(len(content)) + content
    assert framing.tagged(b"ab" + written + b"c", 2) == 2 + len(written)
    assert framing.tagged(b"ab" + written, 2, flexible=False) == 2
