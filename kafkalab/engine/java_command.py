"""The command lines of Kafka's Java programs, each with the mark by which we know our own."""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from kafkalab import environment
from kafkalab.errors import CourseError
from kafkalab.java import aot, same
from kafkalab.java.jars import jars
from kafkalab.java.runtime import java

LOGGING = Path(__file__).with_name("log4j2.xml")
# A small heap and a short life: the simplest collector and the quick compiler start soonest.
FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
# Where the archive of classes is mapped at the address it was made for, JVMs share its pages:
# some 20 MB less for each of them.
SHARING = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
MARK = "-Dkafkalab.slot="


def node(
    folder: Path, service: str, variables: Mapping[str, str], purpose: str, file: Path, log: Path
) -> list[str]:
    """Run a Kafka node from a properties file."""
    return [
        *_java(purpose, folder, log, variables.get("KAFKA_HEAP_OPTS", "-Xmx256m")),
        f"-Dkafkalab.service={service}",
        *shlex.split(variables.get("KAFKA_OPTS", "")),
        "kafka.Kafka",
        str(file),
    ]


def tool(main_class: str, folder: Path) -> list[str]:
    """Run a program of the distribution; what it logs goes to `tool.log` of the folder."""
    return [*_java("tool", folder, folder / "tool.log", "-Xmx256m"), main_class]


@functools.cache
def kafka_version() -> str:
    for path in jars("kafka"):
        if found := re.search(r"kafka-clients-([\w.]+)\.jar$", path.name):
            return found[1]
    raise AssertionError("the set of jars called kafka holds no kafka-clients")


def _java(purpose: str, folder: Path, log: Path, heap: str) -> list[str]:
    _see_that_java_reads(folder)
    return [
        str(java().executable),
        *shlex.split(heap),
        *same.options(log.parent),
        *FLAGS,
        *SHARING,
        *_permissions(),
        *aot.cache_flags(purpose),
        f"{MARK}{folder}",
        f"-Dkafkalab.log={log}",
        f"-Dkafkalab.log.pattern={str(log).replace('%', '%%')}",
        f"-Dlog4j2.configurationFile={LOGGING}",
        "-Dlog4j2.disable.jmx=true",
        "-Djava.awt.headless=true",
        "-cp",
        os.pathsep.join(map(str, jars("kafka"))),
    ]


def _see_that_java_reads(folder: Path) -> None:
    places = {"KAFKALAB_STATE": (folder, ","), "KAFKALAB_CACHE": (jars("kafka")[0].parent, ":")}
    for variable, (path, separator) in places.items():
        why = environment.java_cannot_read(path)
        if separator in str(path):
            why = f"It would end at the {separator!r}, which stands between two paths."
        if why:
            raise CourseError(
                f"Kafka cannot use the folder {str(path)!r}.",
                why,
                f"Let {variable} name a folder with plain letters: export {variable}=FOLDER",
            )


def _permissions() -> list[str]:
    """Newer Java warns on stderr of what Kafka does knowingly."""
    return ["--sun-misc-unsafe-memory-access=allow"] if java().major >= 23 else []
