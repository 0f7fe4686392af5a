"""The command lines of Kafka's Java programs, each with the mark by which we know our own."""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from kafkalab.java import aot
from kafkalab.java.jars import jars
from kafkalab.java.runtime import java

LOGGING = Path(__file__).with_name("log4j2.xml")
# A small heap and a short life: the simplest collector and the quick compiler start soonest.
FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
# Where the archive of classes is mapped at the address it was made for, JVMs share its pages:
# some 20 MB less for each of them.
SHARING = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
MARK = "-Dkafkalab.slot="
# Variables by which a shell's settings would reach our JVMs.
FOREIGN = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")


def node(
    folder: Path, service: str, environment: Mapping[str, str], purpose: str, file: Path, log: Path
) -> list[str]:
    """Run a Kafka node from a properties file."""
    return [
        *_java(purpose, folder, log, environment.get("KAFKA_HEAP_OPTS", "-Xmx256m")),
        f"-Dkafkalab.service={service}",
        *shlex.split(environment.get("KAFKA_OPTS", "")),
        "kafka.Kafka",
        str(file),
    ]


def tool(main_class: str, folder: Path) -> list[str]:
    """Run a program of the distribution; what it logs goes to `tool.log` of the folder."""
    return [*_java("tool", folder, folder / "tool.log", "-Xmx256m"), main_class]


def environment() -> dict[str, str]:
    """The environment of a JVM: ours, without what would change how it runs."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in FOREIGN and not name.startswith("KAFKA_")
    }


@functools.cache
def kafka_version() -> str:
    for path in jars("kafka"):
        if found := re.search(r"kafka-clients-([\w.]+)\.jar$", path.name):
            return found[1]
    raise AssertionError("the set of jars called kafka holds no kafka-clients")


def _java(purpose: str, folder: Path, log: Path, heap: str) -> list[str]:
    return [
        str(java().executable),
        *shlex.split(heap),
        *FLAGS,
        *SHARING,
        *_permissions(),
        *aot.cache_flags(purpose),
        f"{MARK}{folder}",
        f"-Dkafkalab.log={log}",
        f"-Dlog4j2.configurationFile={LOGGING}",
        "-Dlog4j2.disable.jmx=true",
        "-Djava.awt.headless=true",
        "-cp",
        os.pathsep.join(map(str, jars("kafka"))),
    ]


def _permissions() -> list[str]:
    """Newer Java warns on stderr of what Kafka does knowingly."""
    return ["--sun-misc-unsafe-memory-access=allow"] if java().major >= 23 else []
