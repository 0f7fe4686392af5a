"""What was acknowledged against what was read, from the payload logs: once by diff, once by Spark.

Lost: acknowledged and not read. Extra: read more often than acknowledged. Both count copies, so a
record that was delivered three times is two extras.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from delivery.payload import ROLES, Entry, logs
from kafkalab import tables
from kafkalab.errors import CourseError

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame, SparkSession

# The same as payload.LINE, in Java's words.
FIELDS = r"^([^,]*),(\d+),([^,]*),(.*)$"
COLUMNS = ("topic", "partition", "key", "value")
COUNTED = ("sent", "read", "lost", "extra")


@dataclass(frozen=True)
class Difference:
    """What `diff` says of the two logs: `lines` counts what it prints, which is no record count."""

    lost: list[Entry]
    extra: list[Entry]
    lines: int


def difference(directory: Path | str) -> Difference:
    """Sort both logs as text and let `diff` compare them."""
    if shutil.which("diff") is None:
        raise CourseError(
            "There is no program diff on this machine.",
            "It compares the two logs as text.",
            "Install it (the package is called diffutils), or use compare(spark, directory).",
        )
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for role in ROLES:
            files.append(Path(folder) / role)
            files[-1].write_bytes(b"".join(sorted(_lines(directory, role))))
        # 0: the same, 1: different; the C locale sorts and compares bytes, as we did.
        done = subprocess.run(
            ["diff", "--text", "--minimal", *map(str, files)],
            capture_output=True,
            env=os.environ | {"LC_ALL": "C"},
            timeout=120,
        )
    if done.returncode > 1:
        raise CourseError("diff failed.", done.stderr.decode(errors="replace"))
    printed = done.stdout.decode("utf-8").split("\n")[:-1]
    return Difference(
        [Entry.parse(line[2:]) for line in printed if line.startswith("< ")],
        [Entry.parse(line[2:]) for line in printed if line.startswith("> ")],
        len(printed),
    )


def payloads(
    spark: SparkSession, directory: Path | str, role: str, kind: str = "payload"
) -> DataFrame:
    """A row for each line of a role's logs: topic, partition, key, value, and the log's name."""
    from pyspark.sql import functions as f

    files = [str(path.resolve()) for path in logs(directory, role, kind)]
    if not files:
        return spark.createDataFrame(
            [], "topic string, partition int, key string, value string, log string"
        )
    field = [f.regexp_extract("value", FIELDS, number) for number in (1, 2, 3, 4)]
    return (
        spark.read.text(files, lineSep="\n")
        .where(f.col("value") != "")
        .select(
            field[0].alias("topic"),
            field[1].cast("int").alias("partition"),
            field[2].alias("key"),
            field[3].alias("value"),
            f.element_at(f.split(f.input_file_name(), "/"), -1).alias("log"),
        )
    )


def compare(spark: SparkSession, directory: Path | str) -> Comparison:
    """Compare the logs of a run, collected or not, with Spark."""
    return Comparison(compare_all(spark, {"": directory}).drop("run"))


def compare_all(spark: SparkSession, directories: Mapping[str, Path | str]) -> DataFrame:
    """The `records` of several runs at once, with the name of the run in the column `run`."""
    from pyspark.sql import functions as f

    sides = [
        payloads(spark, directory, role, kind)
        .withColumn("side", f.lit(side))
        .withColumn("run", f.lit(run))
        for run, directory in directories.items()
        for role, kind, side in (
            ("producer", "payload", "sent"),
            ("producer", "failed", "failed"),
            ("consumer", "payload", "read"),
        )
        if side == "sent" or logs(directory, role, kind)
    ]
    together = sides[0]
    for one in sides[1:]:
        together = together.unionByName(one)
    counts = together.groupBy("run", *COLUMNS).agg(
        *(f.count_if(f.col("side") == side).alias(side) for side in ("sent", "failed", "read")),
        f.array_sort(f.collect_set(f.when(f.col("side") == "read", f.col("log")))).alias("readers"),
    )
    more = {
        "lost": f.greatest(f.col("sent") - f.col("read"), f.lit(0)),
        "extra": f.greatest(f.col("read") - f.col("sent"), f.lit(0)),
    }
    # Counted now, as it is a measurement: the logs may be collected or removed a moment later.
    return counts.withColumns(more).localCheckpoint()


def findings(records: DataFrame) -> Mapping[tuple[str, str], list[Entry]]:
    """By run and `lost` or `extra`: these records of `compare_all`, sorted, with their copies."""
    found = defaultdict[tuple[str, str], list[Entry]](list)
    for row in records.where("lost + extra > 0").collect():
        for what in ("lost", "extra"):
            found[row["run"], what] += [Entry(*(row[name] for name in COLUMNS))] * row[what]
    for entries in found.values():
        entries.sort()
    return found


class Comparison:
    """The verdict on a run. `records` has a row for each different record, with its counts:

    `sent` (acknowledged), `failed` (its send failed), `read`, `lost`, `extra`, and `readers`, the
    logs in which it was read.
    """

    def __init__(self, records: DataFrame) -> None:
        self.records = records

    @cached_property
    def per_partition(self) -> pandas.DataFrame:
        """A row for each partition: sent, read, lost, extra, and two figures about copies.

        `copies`: how often the record that was read most often was read. `shared`: how many
        records stand in the logs of more than one consumer.
        """
        from pyspark.sql import functions as f

        figures = [
            *(f.sum(name).cast("int").alias(name) for name in COUNTED),
            f.max("read").cast("int").alias("copies"),
            f.count_if(f.size("readers") > 1).cast("int").alias("shared"),
        ]
        places = ["topic", "partition"]
        return self.records.groupBy(*places).agg(*figures).orderBy(*places).toPandas()

    @cached_property
    def differing(self) -> pandas.DataFrame:
        """The rows of `records` that are lost or extra."""
        found = self.records.where("sent != read").toPandas()
        return found.sort_values(["topic", "partition", "key"], ignore_index=True)

    @property
    def sent(self) -> int:
        return self._total("sent")

    @property
    def read(self) -> int:
        return self._total("read")

    @property
    def lost(self) -> int:
        return self._total("lost")

    @property
    def extra(self) -> int:
        return self._total("extra")

    @property
    def lost_entries(self) -> list[Entry]:
        """Sorted by partition and key; one that is lost twice stands twice."""
        return self._entries("lost")

    @property
    def extra_entries(self) -> list[Entry]:
        return self._entries("extra")

    @property
    def most_copies(self) -> int:
        return int(self.per_partition["copies"].max()) if len(self.per_partition) else 0

    @property
    def failed_but_read(self) -> int:
        """Records that were stored although the producer was told that the send failed.

        They count as extra, and no consumer is to blame.
        """
        return int(((self.differing["failed"] > 0) & (self.differing["extra"] > 0)).sum())

    @property
    def read_by_several(self) -> int:
        return self._total("shared")

    @property
    def lost_ranges(self) -> dict[int, list[tuple[int, int]]]:
        """Partition -> runs of lost records, from key to key: one run tells of a lost batch.

        Numbered records only. A run ends where a record of the same partition was not lost.
        """
        from pyspark.sql import functions as f

        numbered = self.records.select(
            "partition", f.expr("try_cast(key as int)").alias("number"), "lost"
        ).where("number is not null")
        hit = self.differing.loc[self.differing["lost"] > 0, "partition"].unique().tolist()
        rows = numbered.where(f.col("partition").isin(hit)).orderBy("partition", "number")
        ranges: dict[int, list[tuple[int, int]]] = {}
        before: tuple[int, bool] | None = None
        for partition, number, lost in rows.collect():
            runs = ranges.setdefault(partition, [])
            if lost and before == (partition, True):
                runs[-1] = (runs[-1][0], number)
            elif lost:
                runs.append((number, number))
            before = (partition, bool(lost))
        return ranges

    def __repr__(self) -> str:
        return " · ".join(f"{name} {getattr(self, name):,}" for name in COUNTED)

    def _repr_html_(self) -> str:
        return tables.html(repr(self), ("partition", *COUNTED), self._rows())

    def _rows(self) -> Sequence[Sequence[object]]:
        columns = ["partition", *COUNTED]
        return [[int(value) for value in row] for row in self.per_partition[columns].to_numpy()]

    def _total(self, name: str) -> int:
        return int(self.per_partition[name].sum())

    def _entries(self, name: str) -> list[Entry]:
        rows = self.differing[self.differing[name] > 0]
        times = rows.loc[rows.index.repeat(rows[name])]
        return [Entry(*row) for row in times[list(COLUMNS)].itertuples(index=False, name=None)]


def _lines(directory: Path | str, role: str) -> list[bytes]:
    return [
        line + b"\n"
        for path in logs(directory, role)
        for line in path.read_bytes().split(b"\n")
        if line
    ]
