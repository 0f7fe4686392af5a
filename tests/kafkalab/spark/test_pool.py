"""Java processes that serve one notebook after the other, and none of them notices."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from kafkalab.spark.loan import POOL
from kafkalab.spark.pool import SparkPool, warm_spark
from kafkalab.wait import wait_until

pytestmark = pytest.mark.spark

BEGIN = """
import json, sys
from kafkalab import spark_session
spark = spark_session()
java = spark._jvm.java.lang
pid = java.ProcessHandle.current().pid()
assert spark.range(10).count() == 10

def say(*facts):
    print(json.dumps([pid, *facts]), flush=True)
"""
STAY = "\nsay()\nsys.stdin.read()"


class Notebook:
    """A program with a session, as a kernel is one. `java` is the process that serves it."""

    def __init__(self, pool: SparkPool, script: str, folder: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", BEGIN + script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, POOL: str(pool.folder), **environment},
        )

    def said(self) -> list:
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        pid, *facts = json.loads(line)
        self.java = pid
        return facts

    def is_warm(self) -> bool:
        """Whether its Java is one of the pool, which is this process's."""
        return psutil.Process(self.java).ppid() == os.getpid()

    def end(self) -> None:
        _, complaints = self.process.communicate(timeout=60)
        assert (self.process.returncode, complaints) == (0, "")

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)


@pytest.fixture(scope="module")
def pool() -> Iterator[SparkPool]:
    with SparkPool() as pool:
        yield pool


@contextlib.contextmanager
def notebook(pool: SparkPool, script: str, folder: Path, **environment: str) -> Iterator[Notebook]:
    """Open until it has said what it says; then it ends in good order."""
    opened = Notebook(pool, script, folder, **environment)
    try:
        opened.facts = opened.said()
        yield opened
        opened.end()
    finally:
        opened.kill()


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


FOLDER = "say(spark.conf.get('spark.local.dir'), spark.sparkContext.applicationId)"


def test_one_after_the_other_has_the_same_java_and_a_session_of_its_own(pool, tmp_path):
    with notebook(pool, FOLDER, tmp_path) as first:
        assert first.is_warm()
        assert Path(first.facts[0], "spark.log").exists()
    with notebook(pool, FOLDER, tmp_path) as second:
        assert second.java == first.java
        assert set(second.facts).isdisjoint(first.facts)
        assert not Path(first.facts[0]).exists()
        assert Path(second.facts[0], "spark.log").exists()


STOP = """
spark.stop()
say()
again = spark_session()
assert again.range(5).count() == 5
pid = again._jvm.java.lang.ProcessHandle.current().pid()
say()
"""


def test_one_that_is_stopped_is_given_back_while_its_notebook_lives(tmp_path):
    with SparkPool(at_most=1) as pool, notebook(pool, STOP, tmp_path) as stopped:
        assert stopped.is_warm()
        first = stopped.java
        assert stopped.process.stdout.readline() == "Spark was stopped, and starts again.\n"
        stopped.said()
        assert stopped.java == first


LITTER = """
import threading
from pyspark.sql.functions import col
spark.range(3).createOrReplaceTempView("numbers")
spark.range(3).createGlobalTempView("everywhere")
spark.range(3).cache().count()
spark.range(3).write.saveAsTable("kept")
spark.sql("CREATE DATABASE other")
spark.catalog.setCurrentDatabase("other")
spark.conf.set("spark.sql.shuffle.partitions", "7")
spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
spark.udf.register("twice", lambda n: 2 * n, "long")
assert spark.sql("SELECT twice(2) AS t").first().t == 4
spark.sparkContext.setLogLevel("INFO")
spark.sparkContext.addFile(__import__("kafkalab").__file__)
java.System.setProperty("spark.sql.ansi.enabled", "false")
java.System.clearProperty("user.timezone")
ticks = spark.readStream.format("rate").load()
counted = ticks.groupBy("value").count().writeStream.outputMode("complete")
counting = counted.format("memory").queryName("ticks").start()
calling = ticks.writeStream.foreachBatch(lambda batch, number: batch.count()).start()
from kafkalab.wait import wait_until
wait_until(lambda: counting.lastProgress and calling.lastProgress, timeout=60, what="both")
slow = spark.range(10**15).where("id % 3 = 4")
threading.Thread(target=slow.count, daemon=True).start()
tracker = spark.sparkContext.statusTracker()
wait_until(tracker.getActiveJobsIds, timeout=30, what="a job")
"""
CLEAN = """
threads = str(java.String.valueOf(java.Thread.getAllStackTraces().keySet()))
log = spark._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel().toString()
say({
    "tables": [table.name for table in spark.catalog.listTables()],
    "global": [table.name for table in spark.catalog.listTables("global_temp")],
    "databases": [database.name for database in spark.catalog.listDatabases()],
    "current": spark.catalog.currentDatabase(),
    "partitions": spark.conf.get("spark.sql.shuffle.partitions"),
    "zone": spark.conf.get("spark.sql.session.timeZone"),
    "ansi": spark.conf.get("spark.sql.ansi.enabled"),
    "function": spark.catalog.functionExists("twice"),
    "log": log,
    "streams": len(spark.streams.active),
    "stream threads": threads.count("stream execution thread"),
    "state": threads.count("state-store"),
    "jobs": list(spark.sparkContext.statusTracker().getActiveJobsIds()),
    "cached": spark.sparkContext._jsc.getPersistentRDDs().size(),
    "files": list(spark.sparkContext.listFiles),
    "properties": sorted(dict(java.System.getProperties())),
})
"""


def test_what_a_killed_one_left_is_not_there_for_the_next(pool, tmp_path):
    with notebook(pool, CLEAN, tmp_path) as before:
        pass
    littering = Notebook(pool, LITTER + STAY, tmp_path)
    littering.said()
    littering.kill()
    with notebook(pool, CLEAN, tmp_path) as after:
        assert (before.java, after.java) == (littering.java, littering.java)
        assert after.facts == before.facts
    found = after.facts[0]
    assert (found["tables"], found["global"], found["streams"], found["jobs"]) == ([], [], 0, [])
    assert (found["current"], found["databases"]) == ("default", ["default"])
    assert (found["log"], found["zone"], found["function"]) == ("WARN", "UTC", False)


def test_one_that_was_killed_while_its_session_began_leaves_a_clean_one(pool, tmp_path):
    before = Notebook(pool, STAY, tmp_path)
    before.said()
    before.end()
    # It dies at the moment at which Java makes its context, which then comes to be all the same.
    dying = """
import os, signal
from py4j.clientserver import ClientServerConnection
send = ClientServerConnection.send_command
def last(self, command):
    if command.startswith("i\\norg.apache.spark.api.java.JavaSparkContext"):
        self.socket.sendall(command.encode())
        os.kill(os.getpid(), signal.SIGKILL)
    return send(self, command)
ClientServerConnection.send_command = last
from kafkalab import spark_session
spark_session()
"""
    killed = subprocess.run(
        [sys.executable, "-c", dying],
        cwd=tmp_path,
        env={**os.environ, POOL: str(pool.folder)},
        timeout=100,
    )
    assert killed.returncode == -signal.SIGKILL
    with notebook(pool, CLEAN, tmp_path) as after:
        assert after.is_warm()
        assert after.facts[0]["tables"] == []


def test_a_process_that_died_costs_time_only(pool, tmp_path):
    with notebook(pool, "say()", tmp_path) as first:
        pass
    psutil.Process(first.java).kill()
    with notebook(pool, "say()", tmp_path) as second:
        assert second.java != first.java


def test_a_process_that_does_not_answer_is_left_alone_and_not_offered_again(pool, tmp_path):
    with notebook(pool, "say()", tmp_path) as first:
        pass
    wait_until(lambda: any(pool.folder.glob("*.ready")), timeout=30, what="the end of cleaning")
    psutil.Process(first.java).suspend()
    impatient = "from kafkalab.spark import cleaning; cleaning.ANSWERS_WITHIN = 1"
    (tmp_path / "sitecustomize.py").write_text(impatient, "utf-8")
    try:
        with notebook(pool, "say()", tmp_path, PYTHONPATH=str(tmp_path)) as second:
            assert second.java != first.java
            assert not second.is_warm()
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(first.java).resume()
    with notebook(pool, "say()", tmp_path) as third:
        assert third.is_warm()
        assert third.java != first.java


def test_two_at_once_have_two_and_a_third_has_one_of_its_own(pool, tmp_path):
    opened = [Notebook(pool, STAY, tmp_path) for _ in range(2)]
    for one in opened:
        one.said()
    with notebook(pool, "say()", tmp_path) as third:
        assert len({third.java, *(one.java for one in opened)}) == 3
        assert [one.is_warm() for one in (*opened, third)] == [True, True, False]
    for one in opened:
        one.end()


def test_files_are_where_the_notebook_is(pool, tmp_path):
    Path(tmp_path, "helper_beside.py").write_text("def answer(n): return n + 40\n", "utf-8")
    script = """
import helper_beside
from pyspark.sql.functions import udf
spark.range(5).write.csv("numbers")
plus = udf(helper_beside.answer, "long")
say(spark.read.csv("numbers").count(), spark.range(3).select(plus("id").alias("n")).first().n)
"""
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "helper_beside.py").write_text("def answer(n): return n + 40\n", "utf-8")
        with notebook(pool, script, folder, PYTHONPATH=str(folder)) as opened:
            assert opened.is_warm()
            assert opened.facts == [5, 40]
        assert (folder / "numbers").is_dir()


def takes(pool: SparkPool, master: str) -> str:
    script = "import sys; from kafkalab.spark.loan import take; print(take(sys.argv[1]))"
    command = [sys.executable, "-c", script, master]
    environment = {**os.environ, POOL: str(pool.folder)}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()


def test_a_session_of_another_kind_starts_its_own(pool):
    assert takes(pool, "local[1]") == "None"


def test_of_a_pool_without_its_owner_nothing_is_taken(tmp_path):
    with SparkPool() as ended:
        pass
    assert takes(ended, "local[2]") == "None"


def test_nothing_listens_on_another_address(pool, tmp_path):
    opened = Notebook(pool, STAY, tmp_path)
    opened.said()
    found = psutil.Process(opened.java).net_connections("inet")
    addresses = {one.laddr.ip for one in found if one.status == "LISTEN"}
    assert addresses <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}
    opened.end()


def test_a_worn_out_process_is_followed_by_another_and_all_end_with_the_pool(tmp_path):
    javas = []
    with SparkPool(uses=2) as pool:
        for _ in range(3):
            with notebook(pool, "say()", tmp_path) as opened:
                javas.append(opened.java)
    assert javas[0] == javas[1] != javas[2]
    assert all(map(is_gone, javas))
    assert not pool.folder.exists()


def test_all_end_with_an_owner_that_is_killed(tmp_path):
    script = f"""
import subprocess, sys
from kafkalab.spark.pool import warm_spark
with warm_spark():
    subprocess.run([sys.executable, "-c", {BEGIN + "say()"!r}], check=True)
    sys.stdin.read()
"""
    owner = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != POOL},
    )
    (java,) = json.loads(owner.stdout.readline())
    assert psutil.Process(java).ppid() == owner.pid
    owner.kill()
    owner.communicate()
    wait_until(lambda: is_gone(java), timeout=15, what="the end of Java")


def test_a_pool_within_a_pool_is_that_one(monkeypatch):
    monkeypatch.delenv(POOL, raising=False)
    before = set(threading.enumerate())
    with warm_spark():
        outer = os.environ[POOL]
        with warm_spark():
            assert os.environ[POOL] == outer
        assert os.environ[POOL] == outer
    assert POOL not in os.environ
    assert set(threading.enumerate()) <= before


@pytest.mark.cluster
def test_records_go_to_the_cluster_of_now_at_the_address_of_one_before(pool, tmp_path):
    from kafka import KafkaAdminClient

    from kafkalab import quick
    from kafkalab.cluster.cluster import Cluster

    script = """
import os
from kafkalab import read_topic
address = os.environ["ADDRESS"]
values = spark.range(20).selectExpr("cast(id as string) value")
to = {"kafka.bootstrap.servers": address, "topic": "numbers"}
values.write.format("kafka").options(**to).save()
say(read_topic(spark, address, "numbers").count())
"""
    addresses: Counter[str] = Counter()
    javas = set()
    # Meanwhile somebody else may have the slot of the one before.
    while addresses.total() < 6 and 2 not in addresses.values():
        with Cluster.start("single") as cluster:
            new = {"numbers": {"num_partitions": 2, "replication_factor": 1}}
            with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
                admin.create_topics(new)
            cluster.wait_for_topic("numbers")
            with notebook(pool, script, tmp_path, ADDRESS=cluster.address) as opened:
                assert opened.facts == [20]
            addresses[cluster.address] += 1
            javas.add(opened.java)
    assert (2 in addresses.values(), len(javas)) == (True, 1)
