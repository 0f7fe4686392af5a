"""What the Kafka that the course runs has: asked of itself, in one JVM."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
import zipfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

from kafkalab import environment
from kafkalab.engine import java_command, tools
from kafkalab.java import same
from kafkalab.java.jars import jars
from kafkalab.java.runtime import java

# Where Kafka defines its settings: of brokers, topics, groups and clients.
DEFINED_BY = (
    "org.apache.kafka.server.config.AbstractKafkaConfig.CONFIG_DEF.names",
    "org.apache.kafka.storage.internals.log.LogConfig.configNames",
    "org.apache.kafka.coordinator.group.GroupConfig.configNames",
    "org.apache.kafka.clients.producer.ProducerConfig.configNames",
    "org.apache.kafka.clients.consumer.ConsumerConfig.configNames",
    "org.apache.kafka.clients.admin.AdminClientConfig.configNames",
)
# As a tool's help lists it, at the beginning of a line; a text that goes on stands further right.
OPTION = re.compile(r"^ {0,4}(?:-\w+, )*(--[a-z][\w.-]*)", re.MULTILINE)


class Distribution:
    """The jars of jars.json; `gateway` is py4j's, to a JVM that has them on its class path."""

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway
        self._helps: dict[str, str] = {}
        self._stay()

    @cached_property
    def settings(self) -> frozenset[str]:
        """The names of all settings, internal ones too."""
        join = self._gateway.jvm.java.lang.String.join  # one answer in the place of hundreds
        return frozenset(" ".join(join(" ", self._at(path)()) for path in DEFINED_BY).split())

    @cached_property
    def classes(self) -> frozenset[str]:
        """The full names of all classes."""
        found: set[str] = set()
        for path in jars("kafka"):
            with zipfile.ZipFile(path) as jar:
                found |= {name for name in jar.namelist() if name.endswith(".class")}
        return frozenset(name.removesuffix(".class").replace("/", ".") for name in found)

    def options(self, script: str) -> frozenset[str]:
        """The options of a tool, with their dashes; none where there is no such tool."""
        return frozenset(OPTION.findall(self.help(script)))

    def help(self, script: str) -> str:
        """What a tool says to `--help`; nothing where Kafka has no such tool."""
        name = script.rpartition("/")[2].removesuffix(".sh")
        main = tools.CLASSES.get(name, "")
        if main not in self.classes:
            return ""
        if name not in self._helps:
            self._helps[name] = self._said(main)
        return self._helps[name]

    def _said(self, main: str) -> str:
        from py4j import java_gateway, protocol

        jvm = self._gateway.jvm
        arguments = self._gateway.new_array(jvm.java.lang.String, 1)
        arguments[0] = "--help"
        written = jvm.java.io.ByteArrayOutputStream()
        jvm.java.lang.System.setOut(jvm.java.io.PrintStream(written))
        jvm.java.lang.System.setErr(jvm.java.io.PrintStream(written))
        # PySpark, where this process has used it, asks the JVM for its own words of an exception,
        # and this JVM has no Spark.
        plain = mock.patch.object(java_gateway, "get_return_value", protocol.get_return_value)
        with plain, contextlib.suppress(protocol.Py4JJavaError):  # its end, an exception here
            self._at(main).main(arguments)
        return str(written.toString())

    def _stay(self) -> None:
        """Let a tool that would end the JVM throw an exception."""
        lang, kafka = self._gateway.jvm.java.lang, self._gateway.jvm.org.apache.kafka
        error = lang.IllegalStateException("the tool has ended")
        parameters = self._gateway.new_array(lang.Class, 2)
        parameters[0], parameters[1] = lang.Integer.TYPE, lang.Class.forName("java.lang.String")
        methods = lang.invoke.MethodHandles
        throws = methods.throwException(lang.Void.TYPE, error.getClass()).bindTo(error)
        ends = lang.invoke.MethodHandleProxies.asInterfaceInstance(
            lang.Class.forName("org.apache.kafka.common.utils.Exit$Procedure"),
            methods.dropArguments(throws, 0, parameters),
        )
        kafka.common.utils.Exit.setExitProcedure(ends)
        kafka.common.utils.Exit.setHaltProcedure(ends)

    def _at(self, path: str) -> Any:
        found = self._gateway.jvm
        for part in path.split("."):
            found = getattr(found, part)
        return found


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Distribution]:
    """The distribution, while its JVM runs; what the JVM leaves goes to `folder`."""
    from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

    pyspark = importlib.metadata.distribution("pyspark").locate_file("pyspark")
    (bridge,) = Path(str(pyspark)).glob("jars/py4j-*.jar")
    with mock.patch.dict(os.environ, environment.for_java(), clear=True):
        port, secret = launch_gateway(
            jarpath=str(bridge),
            classpath=os.pathsep.join(map(str, jars("kafka"))),
            javaopts=[*same.options(folder), *java_command.FLAGS, "-Xmx256m"],
            java_path=str(java().executable),
            die_on_exit=True,
            enable_auth=True,
        )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=secret))
    try:
        yield Distribution(gateway)
    finally:
        gateway.shutdown()
