"""The copies of one partition, each from the disk of its broker, so that they can be compared also
while a broker is frozen, cut off or dead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kafkalab import tables
from kafkalab.cluster import segments

NOTES = "replication-offset-checkpoint"


@dataclass(frozen=True)
class CopyView:
    """What one broker holds of a partition.

    `high_watermark` is the one that the broker last wrote down, which it does every
    `replica.high.watermark.checkpoint.interval.ms`. `epochs` maps each leader epoch that has
    records to the first of its offsets. Equal checksums mean equal logs, byte by byte.
    """

    broker: int
    log_end: int
    high_watermark: int | None
    epochs: dict[int, int]
    bytes: int
    checksum: str


class Copies(dict[int, CopyView]):
    """Broker -> its copy."""

    @property
    def ends(self) -> dict[int, int]:
        """Broker -> log end offset."""
        return {broker: copy.log_end for broker, copy in self.items()}

    @property
    def equal(self) -> bool:
        """Whether all logs are the same, byte by byte."""
        return len({copy.checksum for copy in self.values()}) == 1

    def __repr__(self) -> str:
        return tables.text(*self._table())

    def _repr_html_(self) -> str:
        caption = "equal, byte by byte" if self.equal else "not equal"
        return tables.html(f"{len(self)} copies, {caption}", *self._table())

    def _table(self) -> tuple[Sequence[str], list[tuple[object, ...]]]:
        columns = (
            "broker",
            "log end",
            "high watermark, as last written",
            "epoch: first offset",
            "bytes",
            "checksum",
        )
        rows: list[tuple[object, ...]] = [
            (
                copy.broker,
                copy.log_end,
                copy.high_watermark,
                [f"{epoch}: {offset}" for epoch, offset in copy.epochs.items()],
                copy.bytes,
                copy.checksum[:12],
            )
            for copy in self.values()
        ]
        return columns, rows


def copy_of(broker: int, folder: Path) -> CopyView:
    """Read the folder of a partition; a batch that is being written is left out."""
    end, size, digest = 0, 0, hashlib.sha256()
    for segment in segments.segments(folder):
        with segment.path.open("rb") as file:
            for batch in segments.read_batches(segment.path):
                file.seek(batch.position)
                digest.update(file.read(batch.bytes))
                end, size = batch.last_offset + 1, size + batch.bytes
    # A line is epoch and first offset; the first two lines are version and count.
    pairs = (line.split() for line in _lines(folder / "leader-epoch-checkpoint")[2:])
    return CopyView(
        broker=broker,
        log_end=end,
        high_watermark=None,
        epochs={int(epoch): int(offset) for epoch, offset in pairs},
        bytes=size,
        checksum=digest.hexdigest(),
    )


def noted_high_watermark(storage: Path, topic: str, partition: int) -> int | None:
    """What the broker last wrote down; a line is topic, partition and offset."""
    for folder in (storage, *sorted(storage.iterdir())):
        for line in _lines(folder / NOTES):
            if line.split()[:2] == [topic, str(partition)]:
                return int(line.split()[2])
    return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (FileNotFoundError, NotADirectoryError):  # not written yet
        return []
