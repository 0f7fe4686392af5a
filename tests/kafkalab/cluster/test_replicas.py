"""The view of a partition's copies, on files that kafka-python's own record writer made."""

from pathlib import Path

from kafka.record.default_records import DefaultRecordBatchBuilder

from kafkalab.cluster import replicas
from kafkalab.cluster.replicas import Copies, CopyView


def batch(offset: int) -> bytes:
    builder = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 1_000)
    builder.append(0, 1_000, b"key", b"value %d" % offset, [])
    return offset.to_bytes(8, "big") + bytes(builder.build())[8:]


def copy_of(folder: Path, log: bytes, epochs: str = "0\n1\n0 0\n") -> CopyView:
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(log)
    (folder / "leader-epoch-checkpoint").write_text(epochs)
    return replicas.copy_of(0, folder)


def test_a_batch_that_is_being_written_does_not_count(tmp_path: Path) -> None:
    whole = batch(0) + batch(1)
    full = copy_of(tmp_path / "a" / "rides-0", whole)
    writing = copy_of(tmp_path / "b" / "rides-0", whole + batch(2)[:30])
    other = copy_of(tmp_path / "c" / "rides-0", batch(0) + batch(1).replace(b"value", b"other"))
    assert (full.log_end, full.bytes) == (2, len(whole))
    assert Copies({0: full, 1: writing}).equal
    assert not Copies({0: full, 1: other}).equal
    assert Copies({0: full, 1: other}).ends == {0: 2, 1: 2}


def test_an_epoch_stands_with_the_offset_at_which_it_began(tmp_path: Path) -> None:
    copy = copy_of(tmp_path / "rides-0", batch(0), "0\n2\n0 0\n3 110\n")
    assert copy.epochs == {0: 0, 3: 110}
    assert "0: 0, 3: 110" in repr(Copies({0: copy}))


def test_a_replica_without_a_record_is_empty(tmp_path: Path) -> None:
    folder = tmp_path / "rides-0"
    folder.mkdir()
    copy = replicas.copy_of(2, folder)
    assert (copy.broker, copy.log_end, copy.epochs, copy.bytes) == (2, 0, {}, 0)


def test_the_high_watermark_is_found_in_the_notes_of_each_kind_of_folder(tmp_path: Path) -> None:
    assert replicas.noted_high_watermark(tmp_path, "rides", 0) is None
    (tmp_path / "inner").mkdir()
    notes = "0\n3\nrides 1 5\nrides 0 7\nrides-0 0 9\n"
    (tmp_path / "inner" / replicas.NOTES).write_text(notes)
    assert replicas.noted_high_watermark(tmp_path, "rides", 0) == 7
