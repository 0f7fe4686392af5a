"""The runs that show Java which classes a cluster, a tool and a Spark session load.

`python -m kafkalab.java.recording NAME FOLDER` is started by kafkalab.java.aot, which merges the
lists of classes that the JVMs of the run leave in FOLDER, and writes an archive for the options in
FOLDER/java.options. The run uses the course as a lesson does: what is recorded is then what a
lesson needs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kafkalab.cluster.cluster import Cluster
from kafkalab.errors import CourseError
from kafkalab.java.jars import jars
from kafkalab.java.runtime import write_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TOPIC = "training"


def kafka() -> list[str]:
    """One node and the console tools that lessons use; the class path of all of them."""
    with Cluster.start("single", engine="process") as cluster:
        _fill(cluster)
        read = ["--topic", TOPIC, "--from-beginning", "--max-messages", "2", "--group", TOPIC]
        _tool(cluster, "kafka-console-consumer", *read, "--timeout-ms", "20000")
        _tool(cluster, "kafka-consumer-groups", "--describe", "--group", TOPIC)
        _tool(cluster, "kafka-topics", "--describe")
        _tool(cluster, "kafka-configs", "--describe", "--topic", TOPIC)
        cluster.stop(cluster.brokers[0])
    return ["-cp", os.pathsep.join(map(str, jars("kafka")))]


def spark() -> list[str]:
    """A session that reads a topic and counts; what its driver needs to be started with."""
    from kafkalab.spark.driver import MODULES
    from kafkalab.spark.session import read_topic, spark_session

    with Cluster.start("single", engine="process") as cluster:
        _fill(cluster)
        session = spark_session("training")
        _analyse(session, read_topic(session, cluster, TOPIC))
        _stream(session, cluster.address)
        assert session._jvm is not None  # it runs
        class_path = session._jvm.java.lang.System.getProperty("java.class.path")
        session.stop()
    return [*MODULES, "-cp", class_path]


def _analyse(session: SparkSession, records: DataFrame) -> None:
    """What the analysis cells of lessons are made of."""
    from pyspark.sql import functions as F

    rows = [(place, f"key {place % 3}", place / 7) for place in range(50)]
    measured = session.createDataFrame(rows, "number long, key string, share double")
    kept = session.createDataFrame(measured.toArrow())
    by_key = kept.groupBy("key").agg(F.count("*"), F.max("share"), F.avg("number"))
    by_key.join(measured.select("key").distinct(), "key", "left").orderBy("key").toPandas()
    kept.where("share > 1").withColumn("half", F.expr("number div 2")).limit(5).collect()
    values = records.select("partition", "offset", F.col("value").cast("string"), "timestamp")
    values.groupBy("partition").agg(F.count("*"), F.min("offset"), F.max("timestamp")).toPandas()
    values.where("offset = 0").count()


def _stream(session: SparkSession, address: str) -> None:
    source = session.readStream.format("kafka").option("kafka.bootstrap.servers", address)
    records = source.option("subscribe", TOPIC).option("startingOffsets", "earliest").load()
    sink = records.groupBy("partition").count().writeStream.format("memory").queryName("counts")
    sink.outputMode("complete").trigger(availableNow=True).start().awaitTermination()
    session.table("counts").collect()


def _fill(cluster: Cluster) -> None:
    _tool(cluster, "kafka-topics", "--create", "--topic", TOPIC, "--partitions", "3")
    _tool(cluster, "kafka-console-producer", "--topic", TOPIC, stdin=b"one\ntwo\n")


def _tool(cluster: Cluster, script: str, *arguments: str, stdin: bytes | None = None) -> None:
    done = cluster.tool(script, "--bootstrap-server", "{bootstrap}", *arguments, stdin=stdin)
    if done.returncode:
        raise CourseError(f"{script} failed in the training run.", done.stderr or done.stdout)


if __name__ == "__main__":
    os.environ.pop("KAFKALAB_CLUSTER", None)
    runs = {"kafka": kafka, "spark": spark}
    options = runs[sys.argv[1]]()
    write_options(Path(sys.argv[2]) / "java.options", options)
