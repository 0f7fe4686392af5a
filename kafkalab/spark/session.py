"""The Spark session of a lesson: small, quiet, ready in a few seconds, gone with its notebook.

    spark = spark_session()
    read_topic(spark, cluster, "rides").groupBy("partition").count().show()

Spark works inside one Java process on this machine. KAFKALAB_SPARK_MASTER (spark://host:port,
local[4], …) names another place for the work; the same code then runs on a whole cluster.

`spark.stop()` at the end of a page gives its memory back, half a GB: Java ends with the session.

Its log (spark.log) and its temporary files lie in a folder of the session, which is deleted at the
end; `spark.conf.get("spark.local.dir")` tells where.
"""

from __future__ import annotations

import atexit
import functools
import logging
import os
import socket
import sys
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kafkalab import environment
from kafkalab.cluster import wire
from kafkalab.environment import SPARK_MASTER
from kafkalab.errors import CourseError
from kafkalab.spark import user
from kafkalab.spark.driver import MEMORY, Driver, connectors
from kafkalab.spark.loan import Loan, take

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kafkalab.cluster.cluster import Cluster

HERE = "127.0.0.1"

_lock = threading.Lock()
_driver: Driver | Loan | None = None
_session: SparkSession | None = None
_was_stopped = False


def spark_session(name: str = "lesson") -> SparkSession:
    """The session of this process: the first call starts it, every other one returns it as it is.

    After `spark.stop()` a call starts a fresh one, and says so.
    """
    global _driver, _session, _was_stopped
    with _lock:
        if _was_stopped:
            print("Spark was stopped, and starts again.")
            _was_stopped = False
        master = os.environ.get(SPARK_MASTER) or "local[2]"
        if _driver is None or not _driver.alive():
            _forget_session()
            if _driver is not None:
                _driver.stop()
            _driver = take(master) or Driver(master, _is_local(master))
        if _session is None or _session.sparkContext._jsc is None:
            try:
                _session = _begin(name, master, _driver)
            except Exception:
                if not isinstance(_driver, Loan):
                    raise
                # Whatever it is, a Java that others used before must not be the cause.
                _driver.reject()
                _forget_session()
                _driver = Driver(master, _is_local(master))
                _session = _begin(name, master, _driver)
        return _session


def _begin(name: str, master: str, driver: Driver | Loan) -> SparkSession:
    # PySpark looks at the variables of this process, too.
    environment.clear_of_spark()
    # Imported while Java starts: the one takes about as long as the other.
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name)
    for key, value in _settings(master, driver).items():
        builder = builder.config(key, value)
    if not user.has_name():
        user.give_name(driver.key())
    with driver.key().offered():
        session = builder.getOrCreate()
    # It would print a traceback when Java ends, which needs none.
    vars(session.sparkContext._accumulatorServer)["handle_error"] = lambda *_: None
    # PySpark's own leaves Java behind, which keeps its memory to the end of the kernel.
    vars(session)["stop"] = functools.partial(_stop, session)
    return session


def _stop(session: SparkSession) -> None:
    """What `spark.stop()` does: end the session, and the Java process that worked for it."""
    global _driver, _was_stopped
    with _lock:
        if session is not _session or _driver is None:
            return  # stopped before
        if _driver.alive():
            type(session).stop(session)
        _forget_session()
        _driver.stop()
        _driver = None
        _was_stopped = True


def read_topic(
    spark: SparkSession,
    cluster: Cluster | str,
    topic: str,
    isolation: str = "read_uncommitted",
) -> DataFrame:
    """Every record of a topic, from the earliest to the latest offset at the time of an action.

    `key` and `value` are bytes; `partition`, `offset` and `timestamp` are Kafka's. Nothing is
    committed: to Kafka no group has read this. Where `spark` was stopped, a fresh one reads.
    """
    address = cluster if isinstance(cluster, str) else cluster.address
    wire.answering(address)  # Spark would try for half a minute, and show a page of Java
    if spark.sparkContext._jsc is None:
        spark = spark_session()
    options = {
        "kafka.bootstrap.servers": address,
        "kafka.isolation.level": isolation,
        # Where the brokers went away since, within seconds too.
        "kafka.request.timeout.ms": "5000",
        "kafka.default.api.timeout.ms": "10000",
        "fetchOffset.numRetries": "1",
        "subscribe": topic,
        "startingOffsets": "earliest",
        "endingOffsets": "latest",
    }
    return spark.read.format("kafka").options(**options).load()


def _settings(master: str, driver: Driver | Loan) -> dict[str, str]:
    settings = {
        "spark.master": master,
        "spark.driver.memory": MEMORY,
        "spark.local.dir": str(driver.folder),
        # No escapes: Spark would take them for letters of the name of another folder.
        "spark.sql.warehouse.dir": f"file:{driver.folder / 'warehouse'}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
    }
    if _is_local(master):
        # Otherwise a Python function would run under whatever `python3` is on the path.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        if isinstance(driver, Loan):
            settings |= driver.settings()
        return settings | {
            "spark.driver.host": HERE,
            "spark.driver.bindAddress": HERE,
            # As many as there are cores: two hundred tiny tasks would take longer than the work.
            "spark.sql.shuffle.partitions": "2",
        }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # The driver has them on its class path; the executors fetch them from it.
    settings["spark.jars"] = ",".join(path.as_uri() for path in connectors())
    if host := urlsplit(master).hostname:
        address = _own_address(host)
        settings |= {"spark.driver.host": address, "spark.driver.bindAddress": address}
    return settings


def _is_local(master: str) -> bool:
    return master.startswith("local")


def _own_address(host: str) -> str:
    """The address of this machine on the way to `host`, so that its answers find back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            # Sends nothing: the system only chooses the route.
            way.connect((host, 9))
        except OSError as error:
            raise CourseError(
                f"The Spark master {host} is not known.",
                f"The system says: {error}.",
                f"Correct {SPARK_MASTER}, or unset it to work on this machine.",
            ) from error
        return way.getsockname()[0]


def _forget_session() -> None:
    """Make PySpark forget a Java process that is gone; refuse one that is not ours."""
    global _session
    if "pyspark" not in sys.modules:
        return
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._gateway is not None and _driver is None:
        raise CourseError(
            "A Spark session that the course did not start is running in this notebook.",
            "Python can hold one only, and that one cannot read Kafka.",
            "Restart the kernel and take the session from spark_session().",
        )
    if (context := SparkContext._active_spark_context) is not None:
        context._jsc = None  # gone with Java: there is nobody to stop it
        context.stop()
    _hang_up()
    if SparkContext._gateway is not None:
        # A Java of a pool takes an open connection for work that goes on.
        SparkContext._gateway.close(keep_callback_server=True)
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    _session = None


def _hang_up() -> None:
    """Let the Python objects that stand for Java's go without a word to a Java that is gone."""
    from pyspark import SparkContext

    if SparkContext._gateway is not None:
        SparkContext._gateway._gateway_client.is_connected = False


@atexit.register
def _end() -> None:
    if _driver is None:
        return
    _hang_up()
    logging.disable(logging.ERROR)  # for one that is in the middle of a word
    try:
        _driver.stop()
    finally:
        logging.disable(logging.NOTSET)
