"""The notes of a ledger as Spark DataFrames, of fixed types even where there are no rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalab.evidence.verdict import Reading, Sending

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TIME = pa.timestamp("us", tz="UTC")

SENDINGS = pa.schema(
    [
        ("identity", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),  # where the producer meant to put it
        ("offset", pa.int64()),  # as acknowledged
        ("state", pa.string()),  # acknowledged, failed, unresolved
        ("sent_at", TIME),
        ("acknowledged_at", TIME),
        ("latency_ms", pa.float64()),
        ("error", pa.string()),  # the class of the exception
        ("copies_in_log", pa.int32()),  # null: the topic has not been read back
        ("reads", pa.int32()),  # by all readers of the lesson together
        ("read_by", pa.map_(pa.string(), pa.int32())),
    ]
)

READINGS = pa.schema(
    [
        ("reader", pa.string()),
        ("identity", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", TIME),  # the record's own
        ("read_at", TIME),
    ]
)


def sendings(
    spark: SparkSession,
    sent: Sequence[Sending],
    log: Iterable[Reading],
    reads: Iterable[Reading],
    read_back: Collection[str],
) -> DataFrame:
    """One row per send; `read_back` are the topics whose log was read."""
    copies = Counter((reading.topic, reading.identity) for reading in log)
    read_by: dict[tuple[str, str], Counter[str]] = {}
    for reading in reads:
        read_by.setdefault((reading.topic, reading.identity), Counter())[reading.reader] += 1
    rows = []
    for sending in sent:
        key = (sending.topic, str(sending.identity))
        readers = read_by.get(key, Counter())
        rows.append(
            {
                **vars(sending),
                "identity": key[1],
                "sent_at": _time(sending.sent_at),
                "acknowledged_at": _time(sending.acknowledged_at),
                "copies_in_log": copies[key] if sending.topic in read_back else None,
                "reads": readers.total(),
                "read_by": list(readers.items()),
            }
        )
    return spark.createDataFrame(pa.Table.from_pylist(rows, SENDINGS))


def readings(spark: SparkSession, read: Iterable[Reading]) -> DataFrame:
    """One row per record that somebody read."""
    rows = [
        {
            **vars(reading),
            "timestamp": _time(reading.timestamp_ms / 1_000),
            "read_at": _time(reading.read_at),
        }
        for reading in read
    ]
    return spark.createDataFrame(pa.Table.from_pylist(rows, READINGS))


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
