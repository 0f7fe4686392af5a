"""The Spark session: alone on this machine, quiet, one per process, and never left behind."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import psutil
import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import quick
from kafkalab.errors import CourseError
from kafkalab.java import aot, jars
from kafkalab.spark import driver
from kafkalab.spark import session as spark
from kafkalab.spark.loan import POOL
from kafkalab.wait import wait_until


@pytest.fixture(scope="module", autouse=True)
def cold():
    """As a reader's session is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(POOL, raising=False)
        yield


@pytest.fixture(scope="module")
def session():
    return spark.spark_session("tests")


def run(script, folder, **environment):
    """A program in a process and a folder of its own; what it prints must be nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def is_gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_an_address_on_the_way_to_the_master_is_chosen():
    assert spark._own_address("127.0.0.1") == "127.0.0.1"
    with pytest.raises(CourseError, match="The Spark master nowhere"):
        spark._own_address("nowhere.invalid")


def test_a_session_of_somebody_else_is_refused(monkeypatch):
    from pyspark import SparkContext

    monkeypatch.setattr(spark, "_driver", None)
    monkeypatch.setattr(SparkContext, "_gateway", object())
    with pytest.raises(CourseError) as refusal:
        spark.spark_session()
    assert "Restart the kernel" in refusal.value.mend


def test_a_java_that_does_not_start_is_told(tmp_path, monkeypatch):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho no room for the heap >&2\nexit 3\n", "utf-8")
    java.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(driver.Driver, "_command", lambda *_: [str(java)])
    started = driver.Driver("local[2]", local=True)
    with pytest.raises(CourseError) as failure, started.key().offered():
        pass
    assert failure.value.what.endswith("with code 3.")
    assert failure.value.why == "It says: no room for the heap"
    started.stop()
    assert [path.name for path in tmp_path.iterdir()] == ["java"]


@pytest.mark.spark
def test_the_first_session_stays(session):
    # Another file of tests may have started it, under the name that it chose.
    name = session.sparkContext.appName
    assert spark.spark_session("another name") is session
    assert session.sparkContext.appName == name != "another name"
    assert session.sparkContext.master == "local[2]"


@pytest.mark.spark
def test_times_are_in_utc(session):
    row = session.sql("SELECT date_format(timestamp_millis(0), 'yyyy-MM-dd HH:mm') AS zero").first()
    assert row.zero == "1970-01-01 00:00"


@pytest.mark.spark
def test_python_functions_run_under_this_python(session):
    from pyspark.sql.functions import udf

    interpreter = udf(lambda _: sys.executable)
    found = session.range(1).select(interpreter("id").alias("python")).first()
    assert found.python == sys.executable


@pytest.mark.spark
def test_there_are_no_warnings_on_the_way_to_pandas(session):
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = pd.DataFrame({"time": pd.to_datetime(["2026-01-01"]), "n": [1]})
        assert session.createDataFrame(frame).toPandas().equals(frame)


@pytest.mark.spark
def test_nothing_listens_on_another_address(session):
    session.range(10).count()
    java = psutil.Process(spark._driver.process.pid)
    for process in [psutil.Process(), java, *java.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):  # a worker that ends at this moment
            opened = process.net_connections("inet")
            addresses = {c.laddr.ip for c in opened if c.status == "LISTEN"}
            assert addresses <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}, process


@pytest.mark.spark
def test_an_interrupt_of_the_notebook_does_not_reach_java(session):
    assert os.getsid(spark._driver.process.pid) != os.getsid(0)


@pytest.mark.spark
def test_the_prepared_classes_are_used(session):
    options = Path(session.conf.get("spark.local.dir"), "java.options").read_text("utf-8")
    assert not aot.path_of("spark").exists() or "-XX:SharedArchiveFile=" in options
    assert spark._driver.complaints.read_text("utf-8") == ""


@pytest.mark.spark
def test_stop_gives_the_memory_of_java_back_and_a_fresh_one_says_that_it_starts(capfd):
    first = spark.spark_session()
    java = psutil.Process(spark._driver.process.pid)
    assert java.memory_info().rss > 100e6
    capfd.readouterr()
    first.stop()
    first.stop()
    assert is_gone(java.pid)
    second = spark.spark_session("second")
    first.stop()  # a name from before does not end what is there now
    assert second is not first
    assert second.range(3).count() == 3
    assert spark.spark_session() is second
    assert capfd.readouterr() == ("Spark was stopped, and starts again.\n", "")


@pytest.mark.spark
def test_a_java_that_died_is_followed_by_a_fresh_one():
    before = spark.spark_session()
    java = spark._driver.process
    java.kill()
    java.wait()
    after = spark.spark_session()
    assert after is not before
    assert after.range(3).count() == 3


@pytest.mark.spark
def test_it_is_silent_and_leaves_nothing(tmp_path):
    home, temporary = tmp_path / "here", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    script = """
import json
from kafkalab.spark import session as spark
session = spark.spark_session()
session.range(5).write.saveAsTable("numbers")
session.sql("SELECT sum(id) FROM numbers").collect()
from pyspark.sql.functions import udf
session.range(5).select(udf(lambda n: str(n))("id")).collect()
print(json.dumps([spark._driver.process.pid, str(spark._driver.folder)]))
"""
    java, folder = json.loads(run(script, home, TMPDIR=str(temporary)))
    assert Path(folder).parent == temporary
    assert is_gone(java)
    assert list(home.iterdir()) == []
    assert [path.name for path in temporary.iterdir() if "hsperf" not in path.name] == []


@pytest.mark.spark
def test_java_ends_when_python_is_killed(tmp_path):
    script = """
import json, os, subprocess, sys
from kafkalab.spark import session as spark
spark.spark_session().range(5).count()
print(json.dumps([spark._driver.process.pid, str(spark._driver.folder)]), flush=True)
sys.stdin.read()
"""
    python = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    java, folder = json.loads(python.stdout.readline())
    python.send_signal(signal.SIGKILL)
    python.wait()
    wait_until(lambda: is_gone(java), timeout=15, what="the end of Java")
    python.stdin.close()
    python.stdout.close()
    assert Path(folder).exists()
    run(
        "from kafkalab.spark import driver; driver._forget_the_dead()",
        tmp_path,
        TMPDIR=str(tmp_path),
    )
    assert not Path(folder).exists()


@pytest.mark.spark
def test_paths_may_hold_spaces_commas_and_quotes(tmp_path):
    odd = tmp_path / "one, two 'three' \"four\""
    jars.jars("spark-kafka")
    odd.mkdir()
    shutil.copytree(jars.folder_of("spark-kafka").parent, odd / "jars")
    script = """
from kafkalab import spark_session
session = spark_session()
source = session._jvm.java.lang.Class.forName("org.apache.spark.sql.kafka010.KafkaSourceProvider")
print(session.range(5).count(), source.getSimpleName())
"""
    said = run(script, odd, KAFKALAB_CACHE=str(odd), KAFKALAB_AOT="off", HOME=str(odd))
    assert said == "5 KafkaSourceProvider\n"


@pytest.mark.spark
def test_another_master_may_be_named(tmp_path):
    script = """
from kafkalab import spark_session
print(spark_session().sparkContext.master)
"""
    assert run(script, tmp_path, KAFKALAB_SPARK_MASTER="local[1]") == "local[1]\n"


@pytest.fixture(scope="module")
def cluster():
    from kafkalab.cluster.cluster import Cluster

    with Cluster.start("single") as cluster:
        yield cluster


@pytest.mark.spark
@pytest.mark.cluster
def test_a_topic_is_read_from_end_to_end(cluster):
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({"rides": {"num_partitions": 3, "replication_factor": 1}})
    cluster.wait_for_topic("rides")
    producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
    for number in range(100):
        producer.send("rides", key=b"amsterdam", value=b"%d" % number, timestamp_ms=number)
    producer.flush()
    for where in (cluster, cluster.address):
        rides = spark.read_topic(spark.spark_session(), where, "rides")
        assert dict(rides.dtypes)["value"] == "binary"
        found = rides.selectExpr("cast(value as string) v", "partition", "offset", "timestamp")
        rows = found.orderBy("partition", "offset").collect()
        assert sorted(int(row.v) for row in rows) == list(range(100))
        assert [row.offset for row in rows] == list(range(100))  # one key, one partition


@pytest.mark.spark
@pytest.mark.cluster
def test_aborted_records_are_left_out_on_demand_and_markers_do_not_delay(cluster):

    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="orders",
        transactional_id="orders",
        **quick.producer,
    )
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({"orders": {"num_partitions": 1, "replication_factor": 1}})
    cluster.wait_for_topic("orders")
    producer.init_transactions()
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        producer.send("orders", b"order").get(timeout=10)
        end()
    session = spark.spark_session()
    session.range(1).count()
    started = time.monotonic()
    assert spark.read_topic(session, cluster, "orders").count() == 2
    assert spark.read_topic(session, cluster, "orders", isolation="read_committed").count() == 1
    assert time.monotonic() - started < 60  # one that waits for what is no record waits 120 s
    session.stop()
    assert spark.read_topic(session, cluster, "orders").count() == 2


@pytest.mark.spark
def test_a_cluster_that_is_away_is_told_within_seconds(session):
    started = time.monotonic()
    with pytest.raises(CourseError, match=r"127\.0\.0\.1:1"):
        spark.read_topic(session, "127.0.0.1:1", "rides")
    assert time.monotonic() - started < 10


@pytest.mark.spark
@pytest.mark.cluster
def test_a_cluster_that_went_away_is_told_within_seconds():
    from py4j.protocol import Py4JJavaError

    from kafkalab.cluster.cluster import Cluster

    with Cluster.start("single", beside=True) as passing:
        rides = spark.read_topic(spark.spark_session(), passing, "rides")
        passing.kill(0)  # and not closed: another cluster would get its address
        started = time.monotonic()
        with pytest.raises(Py4JJavaError, match="Timed out"):
            rides.count()
        assert time.monotonic() - started < 25


@pytest.mark.spark
@pytest.mark.cluster
def test_a_ledger_becomes_a_frame(cluster):
    from kafkalab import clients
    from kafkalab.evidence.ledger import Ledger

    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({"trips": {"num_partitions": 1, "replication_factor": 1}})
    cluster.wait_for_topic("trips")
    producer, ledger, session = (
        KafkaProducer(bootstrap_servers=cluster.address, **quick.producer),
        Ledger(),
        spark.spark_session(),
    )
    assert ledger.frame(session).count() == 0
    for number in range(10):
        ledger.sent(number, producer.send("trips", str(number).encode()))
    ledger.settle()
    assert ledger.frame(session).where("copies_in_log IS NULL").count() == 10
    consumer = KafkaConsumer(
        "trips", bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
    )
    for record in clients.records_until_end(consumer):
        if record.offset < 4:
            ledger.read(record, reader="billing")
    ledger.read_back(cluster, "trips")
    frame = ledger.frame(session)
    row = frame.where("identity = '3'").first()
    assert (row.topic, row.partition, row.offset, row.state) == ("trips", 0, 3, "acknowledged")
    assert (row.copies_in_log, row.reads, row.read_by) == (1, 1, {"billing": 1})
    assert row.acknowledged_at >= row.sent_at
    counts = frame.groupBy("state", "reads").count().orderBy("reads").collect()
    assert [tuple(row) for row in counts] == [("acknowledged", 0, 6), ("acknowledged", 1, 4)]
    readings = ledger.readings(session).groupBy("reader").count().orderBy("reader").collect()
    assert [tuple(row) for row in readings] == [("billing", 4), ("log", 10)]
