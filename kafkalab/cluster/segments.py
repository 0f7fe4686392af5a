"""Read what a broker has on its disk: segment files and the headers of the batches in them.

Nothing of Kafka runs for this, so it works while a broker is down or stands still. The layout of a
batch (format 2) from its first byte:

    0 base offset, 8 length of what follows, 12 leader epoch, 16 format, 17 checksum,
    21 attributes, 23 last offset delta, 27 first timestamp, 35 last timestamp, 43 producer id,
    51 producer epoch, 53 base sequence, 57 number of records, 61 the records
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kafkalab.errors import CourseError

HEADER = struct.Struct(">qiibIhiqqqhii")
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
MARKER = 9
CODEC_BITS, TRANSACTIONAL, CONTROL = 0x07, 0x10, 0x20


@dataclass(frozen=True)
class Segment:
    """A piece of a partition's log. `files` maps a suffix (`log`, `index`, …) to its size."""

    base_offset: int
    files: dict[str, int]
    path: Path = field(repr=False)


@dataclass(frozen=True)
class Batch:
    """The header of a batch. `bytes` is its size in the file, `position` where it starts there.

    `base_sequence` and `producer_id` are -1 where the producer is not idempotent. A control batch
    holds the end of a transaction, not records of anybody's: `marker` tells which end.
    """

    base_offset: int
    last_offset: int
    records: int
    codec: str
    bytes: int
    position: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    first_timestamp: int
    last_timestamp: int
    transactional: bool
    control: bool
    marker: str | None = None  # "commit" or "abort"


def partition_folder(storage: Path, topic: str, partition: int) -> Path | None:
    """The folder of a partition in a broker's log folder or in one of several below it."""
    name = f"{topic}-{partition}"
    for folder in (storage, *sorted(storage.iterdir())):
        if (folder / name).is_dir():
            return folder / name
    return None


def segments(folder: Path) -> list[Segment]:
    """The segments of a partition's folder, oldest first. The last one is being written."""
    found: dict[str, dict[str, int]] = {}
    for path in _listed(folder):
        # Else the broker has renamed it since it was listed, to delete it.
        if (size := _size(path)) is not None:
            found.setdefault(path.stem, {})[path.suffix.removeprefix(".")] = size
    return [
        Segment(int(stem), files, folder / f"{stem}.log")
        for stem, files in found.items()
        if "log" in files
    ]


def batches(folder: Path) -> list[Batch]:
    """The batches of all segments of a partition's folder, in the order of the log."""
    found: list[Batch] = []
    for segment in segments(folder):
        with suppress(FileNotFoundError):  # the broker has removed it since it was listed
            found += read_batches(segment.path)
    return found


def read_batches(path: Path) -> Iterator[Batch]:
    """The batches of one segment file. A batch that is still being written is left out."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        position = 0
        while position + HEADER.size <= size:
            file.seek(position)
            values = HEADER.unpack(file.read(HEADER.size))
            base, length, epoch, magic, _, attributes, delta, first, last, producer = values[:10]
            end = position + 12 + length
            if length <= 0 or end > size:
                return
            if magic != 2:
                raise CourseError(
                    f"{path.name} holds a batch of format {magic} at {position}.",
                    "This course reads format 2, the only one that Kafka 4 writes.",
                )
            producer_epoch, sequence, records = values[10:]
            yield Batch(
                base_offset=base,
                last_offset=base + delta,
                records=records,
                codec=CODECS[attributes & CODEC_BITS],
                bytes=12 + length,
                position=position,
                leader_epoch=epoch,
                producer_id=producer,
                producer_epoch=producer_epoch,
                base_sequence=sequence,
                first_timestamp=first,
                last_timestamp=last,
                transactional=bool(attributes & TRANSACTIONAL),
                control=bool(attributes & CONTROL),
                marker=_marker(file.read(MARKER)) if attributes & CONTROL else None,
            )
            position = end


def _marker(record: bytes) -> str | None:
    """What ends a transaction stands in the key of its one record: a version, then 0 or 1.

    Before the key come five numbers of one byte each in a record as small as this one.
    """
    return {0: "abort", 1: "commit"}.get(record[8])


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:  # the topic has been deleted since it was looked up
        return []


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # the broker has removed it since it was listed
        return None
