"""The runs that show Java which classes a cluster, a tool and a Spark session load.

`python -m kafkalab.training NAME FOLDER` is started by kafkalab.aot, which merges the lists of
classes that the JVMs of the run leave in FOLDER. The run uses the course as a lesson does: what is
recorded is then what a lesson needs.
"""

import os
import sys
from pathlib import Path

from kafkalab.cluster import Cluster
from kafkalab.errors import CourseError
from kafkalab.jars import jars

TOPIC = "training"


def kafka() -> str:
    """One node and the console tools that lessons use; the class path of all of them."""
    with Cluster.start("single", engine="process") as cluster:
        _fill(cluster)
        read = ["--topic", TOPIC, "--from-beginning", "--max-messages", "2", "--group", TOPIC]
        _tool(cluster, "kafka-console-consumer", *read, "--timeout-ms", "20000")
        _tool(cluster, "kafka-consumer-groups", "--describe", "--group", TOPIC)
        _tool(cluster, "kafka-topics", "--describe")
        _tool(cluster, "kafka-configs", "--describe", "--topic", TOPIC)
        cluster.stop(cluster.brokers[0])
    return os.pathsep.join(map(str, jars("kafka")))


def spark() -> str:
    """A session that reads a topic and counts; the class path of its driver."""
    from kafkalab.spark import read_topic, spark_session

    with Cluster.start("single", engine="process") as cluster:
        _fill(cluster)
        session = spark_session("training")
        records = read_topic(session, cluster, TOPIC)
        records.groupBy("partition").count().toPandas()
        class_path = session._jvm.java.lang.System.getProperty("java.class.path")
        session.stop()
    return class_path


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
    path = runs[sys.argv[1]]()
    (Path(sys.argv[2]) / "class-path").write_text(path, "utf-8")
