"""Variables of other programs that reach into Java, Spark, Docker and what speaks to the network.

Standard library alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from kafkalab.setup.doctor.diagnosis import Diagnosis

JAVA = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")
SPARK = (
    "SPARK_REMOTE",
    "SPARK_CONNECT_MODE_ENABLED",
    "SPARK_API_MODE",
    "SPARK_HOME",
    "SPARK_CONF_DIR",
    "SPARK_DIST_CLASSPATH",
    "SPARK_LOCAL_IP",
    "PYSPARK_SUBMIT_ARGS",
    "PYSPARK_PYTHON",
    "PYSPARK_DRIVER_PYTHON",
)
DOCKER = ("DOCKER_DEFAULT_PLATFORM", "COMPOSE_FILE", "COMPOSE_PROFILES", "COMPOSE_PROJECT_NAME")
PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY")
SCHEMES = ("http", "https")


def variables(environment: Mapping[str, str] = os.environ) -> Diagnosis:
    """Whether one is set that was meant for another program, or a proxy that not all can use."""
    named = list(_foreign(environment))
    if not named:
        return Diagnosis("variables", "good", "none of another Java, Spark or Docker; no odd proxy")
    return Diagnosis(
        "variables",
        "note",
        "; ".join(f"{name}={value}, {what}" for name, value, what in named),
        "They were set for another program and reach what the course starts. Where something "
        "below fails, try without them.",
        "In the shell that starts the course: unset " + " ".join(name for name, _, _ in named),
    )


def _foreign(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for names, what in ((JAVA, "of Java"), (SPARK, "of Spark"), (DOCKER, "of Docker")):
        for name in names:
            if environment.get(name):
                yield name, environment[name], what
    for name in (*PROXIES, *map(str.lower, PROXIES)):
        value = environment.get(name, "")
        scheme, found, _ = value.partition("://")
        if value and not found:
            yield name, _without_password(value), "a proxy without http:// before it"
        elif value and scheme.lower().startswith("socks"):
            yield name, _without_password(value), "a SOCKS proxy, which JupyterLab and pip refuse"
        elif value and scheme.lower() not in SCHEMES:
            yield name, _without_password(value), f"a proxy of the unknown kind {scheme}"


def _without_password(proxy: str) -> str:
    before, found, host = proxy.rpartition("@")
    scheme = before.partition("://")[0] + "://" if "://" in before else ""
    return f"{scheme}…@{host}" if found else proxy
