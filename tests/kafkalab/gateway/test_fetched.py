"""What the gateway reads of the answer to a fetch request is what the broker put into it."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer import FetchResponse
from kafka.record.default_records import DefaultRecordBatchBuilder

from kafkalab.gateway import fetched, framing
from kafkalab.gateway.fetched import Fetched

VERSIONS = range(4, 19)
RIDES, FARES = uuid.UUID(int=7), uuid.UUID(int=2**127 + 1)
NAMES = {"rides": RIDES, "fares": FARES}


def batch(first: int, records: int) -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=False,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=100_000,
    )
    for offset in range(records):
        builder.append(offset, 1000, None, b"value", [])
    return first.to_bytes(8, "big") + bytes(builder.build())[8:]


def answer(version: int, topics: dict[str, dict[int, bytes | None]]) -> bytes:
    topic = FetchResponse.FetchableTopicResponse
    part = topic.PartitionData
    body = FetchResponse(
        throttle_time_ms=0,
        error_code=0,
        session_id=99,
        responses=[
            topic(
                topic=name,
                topic_id=NAMES[name],
                partitions=[
                    part(
                        partition_index=number,
                        error_code=0,
                        high_watermark=50,
                        last_stable_offset=50,
                        log_start_offset=0,
                        aborted_transactions=[
                            part.AbortedTransaction(producer_id=5, first_offset=3)
                        ],
                        preferred_read_replica=-1,
                        records=data,
                    )
                    for number, data in places.items()
                ],
            )
            for name, places in topics.items()
        ],
    )
    body.API_VERSION = version
    body.with_header(7)
    return body.encode(header=True, framed=True)


def read(frame: bytes, version: int) -> list[Fetched]:
    return fetched.records(frame, framing.Request(api=fetched.FETCH, version=version))


def named(name: str, version: int) -> tuple[str | None, str | None]:
    return (None, str(NAMES[name])) if version >= fetched.FETCH_BY_ID else (name, None)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_offsets_of_all_batches_are_read(version: int) -> None:
    two = batch(10, 3) + batch(13, 5)
    frame = answer(version, {"rides": {0: two, 1: None, 2: b""}, "fares": {4: batch(0, 1)}})
    assert read(frame, version) == [
        Fetched(*named("rides", version), 0, 10, 17),
        Fetched(*named("fares", version), 4, 0, 0),
    ]


@pytest.mark.parametrize("version", [4, 11, 12, 18])
def test_a_batch_that_was_cut_off_is_not_counted(version: int) -> None:
    frame = answer(version, {"rides": {0: batch(0, 2) + batch(2, 9)[:-1]}})
    assert read(frame, version) == [Fetched(*named("rides", version), 0, 0, 1)]


@given(version=st.sampled_from(VERSIONS), size=st.integers(0, 200))
def test_what_breaks_off_gives_nothing(version: int, size: int) -> None:
    assert len(read(answer(version, {"rides": {0: batch(0, 2)}})[:size], version)) <= 1


def test_other_answers_bring_nothing() -> None:
    assert fetched.records(b"", framing.Request(api=0, version=9)) == []
