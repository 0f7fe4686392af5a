"""How long Spark takes to its first answer: the course's session beside a stock PySpark.

./course bench spark_session [--runs 5] [--json]

Both run on the Java of the course and take turns, so that a busy minute of the machine hits both.
Stock PySpark is what its manual says: a session with the Kafka connector in `spark.jars`, started
by PySpark's own scripts. Its launcher insists on a module that the Java of the course lacks, so a
`java` that drops this one argument stands before it.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks._progress import Progress
from kafkalab.java import aot
from kafkalab.java.runtime import java
from kafkalab.spark.driver import connectors

AIM = 0.6

WORK = """
from pyspark.sql import functions as F
ready = time.perf_counter()
third = (F.col("id") % 3).alias("third")
answer = spark.range(1_000).groupBy(third).count().orderBy("third").toPandas()
first = time.perf_counter()
spark.range(1_000).groupBy(third).agg(F.sum("id")).toPandas()
assert list(answer["count"]) == [334, 333, 333]
print(json.dumps([ready - began, first - ready, time.perf_counter() - first]))
spark.stop()
"""

COURSE = """
import json, time
began = time.perf_counter()
from kafkalab import spark_session
spark = spark_session()
"""

STOCK = """
import json, sys, time
began = time.perf_counter()
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", sys.argv[1])
    .config("spark.driver.memory", "1g")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.execution.arrow.pyspark.enabled", "true")
    .getOrCreate()
)
"""

SHIM = """#!/bin/bash
given=()
for argument in "$@"; do
  [ "$argument" = --add-modules=jdk.incubator.vector ] || given+=("$argument")
done
exec {executable} "${{given[@]}}"
"""


def java_home_for_stock(folder: Path) -> Path:
    """A Java that ignores a module which it does not have."""
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(SHIM.format(executable=shlex.quote(str(java().executable))), "utf-8")
    program.chmod(0o755)
    return folder


def measure(program: str, *arguments: str, **environment: str) -> list[float]:
    """Seconds to the session, from there to the first answer, and for a second one."""
    done = subprocess.run(
        [sys.executable, "-c", program + WORK, *arguments],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
        timeout=180,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench spark_session")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    aot.record("spark")
    jars = ",".join(map(str, connectors()))
    times: dict[str, list[list[float]]] = {"stock": [], "course": [], "without archive": []}
    plan = {f"round {number}": 1 for number in range(1, options.runs + 1)}
    with (
        tempfile.TemporaryDirectory() as folder,
        Progress(plan, lambda: show(times, options.json)) as progress,
    ):
        home = str(java_home_for_stock(Path(folder)))
        for _ in progress.goes():
            times["stock"].append(measure(STOCK, jars, JAVA_HOME=home))
            times["course"].append(measure(COURSE))
            times["without archive"].append(measure(COURSE, KAFKALAB_AOT="off"))


def show(times: dict[str, list[list[float]]], as_json: bool) -> None:
    results = {
        name: {
            "session": statistics.median(run[0] for run in found),
            "first": statistics.median(run[1] for run in found),
            "second": statistics.median(run[2] for run in found),
            "median": statistics.median(run[0] + run[1] for run in found),
            "least": min(run[0] + run[1] for run in found),
        }
        for name, found in times.items()
    }
    ratio = results["course"]["median"] / results["stock"]["median"]
    runs = len(times["without archive"])
    if as_json:
        print(json.dumps({"runs": runs, "ratio": ratio, "aim": AIM, **results}, indent=1))
        return
    table = Table("", "session s", "first answer s", "second s", "together s", "least s")
    for name, line in results.items():
        figures = (line[key] for key in ("session", "first", "second", "median", "least"))
        table.add_row(name, *(f"{figure:.2f}" for figure in figures))
    console = Console()
    console.print(table)
    console.print(f"course / stock: {ratio:.2f} (aim: at most {AIM}), {runs} runs of each")


if __name__ == "__main__":
    main()
