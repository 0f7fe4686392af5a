"""The reader of segment files, on files that kafka-python's own record writer made."""

import zlib
from pathlib import Path

import pytest
from kafka.record.default_records import DefaultRecordBatchBuilder

from kafkalab import CourseError
from kafkalab.cluster import segments

GZIP = 1


def batch(first: int, count: int, codec: int = 0, transactional: int = 0) -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=codec,
        is_transactional=transactional,
        producer_id=77 if transactional else -1,
        producer_epoch=5 if transactional else -1,
        base_sequence=first if transactional else -1,
        batch_size=100_000,
    )
    for offset in range(count):
        builder.append(offset, 1000 + offset, b"key", b"value" * 20, [])
    data = bytearray(builder.build())
    data[0:8] = first.to_bytes(8, "big")  # what the leader does when it appends
    return bytes(data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "rides-0"
    folder.mkdir()
    first, second = batch(0, 3), batch(3, 5, GZIP)
    (folder / "00000000000000000000.log").write_bytes(first + second)
    (folder / "00000000000000000000.index").write_bytes(bytes(16))
    (folder / "00000000000000000008.log").write_bytes(batch(8, 2, transactional=1))
    (folder / "partition.metadata").write_text("version: 0\n")
    return folder


def test_segments_are_listed_oldest_first_with_the_size_of_each_file(folder: Path) -> None:
    first, second = segments.segments(folder)
    assert (first.base_offset, second.base_offset) == (0, 8)
    assert first.files == {"index": 16, "log": first.path.stat().st_size}
    assert set(second.files) == {"log"}


def test_batches_of_all_segments_come_in_the_order_of_the_log(folder: Path) -> None:
    first, second, third = segments.batches(folder)
    assert [(b.base_offset, b.last_offset, b.records) for b in (first, second, third)] == [
        (0, 2, 3),
        (3, 7, 5),
        (8, 9, 2),
    ]
    assert [b.codec for b in (first, second, third)] == ["none", "gzip", "none"]
    assert [b.position for b in (first, second, third)] == [0, first.bytes, 0]
    assert second.bytes < first.bytes * 5 / 3
    assert (first.first_timestamp, first.last_timestamp) == (1000, 1002)
    assert (first.producer_id, first.base_sequence, first.transactional) == (-1, -1, False)
    assert (third.producer_id, third.producer_epoch, third.base_sequence) == (77, 5, 8)
    assert third.transactional
    assert not third.control


@pytest.mark.parametrize(("kind", "marker"), [(0, "abort"), (1, "commit")])
def test_the_end_of_a_transaction_tells_which_end(tmp_path: Path, kind: int, marker: str) -> None:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=1,
        producer_id=77,
        producer_epoch=5,
        base_sequence=-1,
        batch_size=1000,
    )
    builder.append(0, 1000, bytes([0, 0, 0, kind]), bytes(6), [])
    data = bytearray(builder.build())
    data[22] |= segments.CONTROL
    log = tmp_path / "00000000000000000000.log"
    log.write_bytes(data + batch(1, 1))
    end, plain = segments.read_batches(log)
    assert (end.control, end.marker, end.transactional) == (True, marker, True)
    assert (plain.control, plain.marker, plain.base_offset) == (False, None, 1)


@pytest.mark.parametrize("missing", [1, 40, 70])
def test_a_batch_that_is_still_being_written_is_left_out(tmp_path: Path, missing: int) -> None:
    log = tmp_path / "00000000000000000000.log"
    log.write_bytes(batch(0, 1) + batch(1, 1)[:-missing])
    assert [b.base_offset for b in segments.read_batches(log)] == [0]


def test_space_that_was_set_aside_but_not_written_is_not_read(tmp_path: Path) -> None:
    log = tmp_path / "00000000000000000000.log"
    log.write_bytes(batch(0, 1) + bytes(500))
    assert len(list(segments.read_batches(log))) == 1


def test_an_old_format_is_named(tmp_path: Path) -> None:
    log = tmp_path / "00000000000000000000.log"
    body = bytes([0, 0]) + zlib.crc32(b"").to_bytes(4, "big") * 20
    log.write_bytes(bytes(8) + (len(body) + 4).to_bytes(4, "big") + bytes(4) + body)
    with pytest.raises(CourseError, match="batch of format 0 at 0"):
        list(segments.read_batches(log))


def test_a_partition_is_found_in_one_or_several_log_folders(folder: Path) -> None:
    assert segments.partition_folder(folder.parent, "rides", 0) == folder
    assert segments.partition_folder(folder.parent.parent, "rides", 0) == folder
    assert segments.partition_folder(folder.parent, "rides", 1) is None


def test_a_segment_that_is_removed_while_it_is_read_is_left_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Retention and the deletion of a topic take files away from who has just listed them."""
    listed = segments.segments(folder)
    listed[0].path.unlink()
    monkeypatch.setattr(segments, "segments", lambda _: listed)
    assert [batch.base_offset for batch in segments.batches(folder)] == [8]
