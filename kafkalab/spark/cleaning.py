"""Make Spark's Java process as it was before a notebook used it.

Views, databases, functions and settings belong to a Spark session and go with its context. What
outlives the context is mended here one by one: the default session, state stores, producers for
Kafka (a cluster at the same address would get the messages of the one before), open file systems,
folders for temporary files, the level of the log, properties of Java, and the objects that Python
held. What cannot be mended in time is not used again.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkalab.errors import CourseError
from kafkalab.spark.driver import JavaKey
from kafkalab.wait import WaitTimeout, wait_until

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

ANSWERS_WITHIN = 20
ENDS_WITHIN = 20
FULLEST = 0.5  # of the heap, after a collection
THREAD = re.compile(r"Thread\[#(\d+),([^,]*)")
# A Spark query that runs for ever, a task, and a call that Python made and did not wait for.
QUERY = "stream execution thread"
WORKING = (QUERY, "Executor task launch worker", "Thread-")


@contextlib.contextmanager
def talking(key: JavaKey) -> Iterator[JavaGateway]:
    """A connection to a Java process, beside that of the notebook that uses it."""
    from py4j.java_gateway import GatewayParameters, JavaGateway

    logger = logging.getLogger("py4j")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # it logs what it also raises
    gateway = JavaGateway(
        gateway_parameters=GatewayParameters(
            port=key.port,
            auth_token=key.secret,
            auto_convert=True,
            read_timeout=ANSWERS_WITHIN,
            enable_memory_management=False,
        )
    )
    try:
        yield gateway
    finally:
        gateway.close()
        logger.setLevel(level)


class Cleaner:
    """Knows how a Java process was before its first use."""

    def __init__(self, key: JavaKey) -> None:
        self._key = key
        with talking(key) as gateway:
            self._properties = dict(gateway.jvm.System.getProperties())
            self._threads = {number for number, _ in _threads(gateway)}
            self._objects = _named(gateway)

    def prepare(self, folder: Path) -> None:
        """Let the next notebook have its log in a folder of its own."""
        with talking(self._key) as gateway:
            gateway.jvm.System.setProperty("kafkalab.log", str(folder / "spark.log"))
            gateway.jvm.org.apache.logging.log4j.core.config.Configurator.reconfigure()

    def clean(self) -> None:
        """End all that the last notebook left. Raises where it does not end."""
        with talking(self._key) as gateway:
            wait_until(
                lambda: self._is_at_rest(gateway),
                timeout=ENDS_WITHIN,
                what="the end of what the last notebook began in Spark",
                seen=lambda: self._working(gateway),
            )
            jvm = gateway.jvm
            spark = jvm.org.apache.spark
            spark.sql.classic.SparkSession.clearActiveSession()
            spark.sql.classic.SparkSession.clearDefaultSession()
            _scala(gateway, "sql.execution.streaming.state.StateStore").stop()
            _scala(gateway, "sql.kafka010.producer.InternalKafkaProducerPool").reset()
            _scala(gateway, "util.Utils").clearLocalRootDirs()
            jvm.org.apache.hadoop.fs.FileSystem.closeAll()
            properties = jvm.java.util.Properties()
            properties.putAll(self._properties)
            jvm.System.setProperties(properties)
            gateway.java_gateway_server.resetCallbackClient(
                gateway.java_gateway_server.getCallbackClient().getAddress(), 0
            )
            self._forget_objects(gateway)
            self._measure(gateway)

    def _is_at_rest(self, gateway: JavaGateway) -> bool:
        """Whether no context is there and nothing runs. Ends a context, also one that comes late:
        the notebook may have been killed while it was made.
        """
        # Before the context: a thread that still makes one is seen here, or has made it by then.
        working = self._working(gateway)
        context = _scala(gateway, "SparkContext").getActive()
        if context.isDefined():
            # The end of a context does not end its tasks, and nobody can cancel them then.
            with contextlib.suppress(WaitTimeout):
                wait_until(
                    lambda: self._is_idle(gateway, context.get()), timeout=10, what="the tasks"
                )
            context.get().stop()
            return False
        return not working

    def _is_idle(self, gateway: JavaGateway, context: Any) -> bool:
        """Cancels what runs; a call that has no job yet makes one after that, so at each look.
        The end of the context ends the queries."""
        context.cancelAllJobs()
        return all(name.startswith(QUERY) for name in self._working(gateway))

    def _working(self, gateway: JavaGateway) -> list[str]:
        """The threads that work for a notebook."""
        own = gateway.jvm.java.lang.Thread.currentThread().threadId()
        return [
            name
            for number, name in _threads(gateway)
            if number not in self._threads and number != own and name.startswith(WORKING)
        ]

    def _forget_objects(self, gateway: JavaGateway) -> None:
        """Drop what Java keeps for Python: a kernel that was killed did not let go of it."""
        bindings = gateway.java_gateway_server.getGateway().getBindings()
        bindings.keySet().retainAll(self._objects)

    def _measure(self, gateway: JavaGateway) -> None:
        gateway.jvm.System.gc()
        heap = gateway.jvm.java.lang.Runtime.getRuntime()
        share = (heap.totalMemory() - heap.freeMemory()) / heap.maxMemory()
        if share > FULLEST:
            raise CourseError(f"The heap of Java is full to {share:.0%} when nothing runs.")


def _scala(gateway: JavaGateway, name: str) -> Any:
    """An object of Spark's that Python has no name for."""
    found = gateway.jvm.java.lang.Class.forName(f"org.apache.spark.{name}$")
    return found.getField("MODULE$").get(None)


def _threads(gateway: JavaGateway) -> list[tuple[int, str]]:
    running = gateway.jvm.java.lang.Thread.getAllStackTraces().keySet()
    said = gateway.jvm.java.lang.String.valueOf(running)
    return [(int(number), name) for number, name in THREAD.findall(said)]


def _named(gateway: JavaGateway) -> list[str]:
    """The names of py4j's own objects; those that Python got are numbered."""
    names = gateway.java_gateway_server.getGateway().getBindings().keySet()
    return [name for name in names if not re.fullmatch(r"o\d+", name)]
