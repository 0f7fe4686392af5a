"""What the gateway reads of a produce request is what kafka-python wrote into it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.producer import ProduceRequest
from kafka.record.default_records import DefaultRecordBatchBuilder

from kafkalab.gateway import framing, produced
from kafkalab.gateway.produced import SentBatch

BY_NAME = range(3, 13)


def batch(records: int, producer: int, epoch: int, sequence: int, transactional: bool) -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=transactional,
        producer_id=producer,
        producer_epoch=epoch,
        base_sequence=sequence,
        batch_size=100_000,
    )
    for offset in range(records):
        builder.append(offset, 1000, None, b"value", [])
    return bytes(builder.build())


def request(version: int, topics: dict[str, dict[int, bytes | None]]) -> bytes:
    topic = ProduceRequest.TopicProduceData
    partition = topic.PartitionProduceData
    body = ProduceRequest(
        transactional_id="bank",
        acks=-1,
        timeout_ms=1000,
        topic_data=[
            topic(
                name=name,
                partition_data=[partition(index=i, records=data) for i, data in places.items()],
            )
            for name, places in topics.items()
        ],
    )
    body.API_VERSION = version
    body.with_header(7, "me")
    return body.encode(header=True, framed=True)


def read(frame: bytes) -> list[SentBatch]:
    return produced.batches(frame, framing.request(frame))


@pytest.mark.parametrize("version", BY_NAME)
def test_every_batch_of_a_request_is_read(version: int) -> None:
    one, two = batch(3, 77, 5, 40, True), batch(1, -1, -1, -1, False)
    frame = request(version, {"debit": {0: one, 4: two}, "credit": {1: one}})
    sums = [int.from_bytes(data[17:21], "big") for data in (one, two)]
    assert read(frame) == [
        SentBatch("debit", 0, 77, 5, 40, 3, True, sums[0]),
        SentBatch("debit", 4, -1, -1, -1, 1, False, sums[1]),
        SentBatch("credit", 1, 77, 5, 40, 3, True, sums[0]),
    ]


@pytest.mark.parametrize("version", BY_NAME)
def test_a_partition_without_a_batch_is_passed_over(version: int) -> None:
    frame = request(version, {"rides": {0: None, 1: batch(2, 9, 0, 1, False)}})
    assert [(sent.partition, sent.records) for sent in read(frame)] == [(1, 2)]


@given(version=st.sampled_from(BY_NAME), size=st.integers(12, 200))
def test_what_breaks_off_gives_nothing(version: int, size: int) -> None:
    frame = request(version, {"rides": {0: batch(2, 9, 0, 1, False)}})
    assert len(read(frame[:size])) <= 1


def test_other_requests_carry_no_batch() -> None:
    assert produced.batches(b"", framing.Request(api=1, version=9)) == []
