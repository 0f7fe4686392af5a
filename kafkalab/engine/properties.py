"""From the environment of a Kafka container to `server.properties`, and from its network to ours.

The official image turns KAFKA_ variables into properties. The process engine does the same, then
puts 127.0.0.1 and a port of the slot wherever the name of a service and its port stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from kafkalab.engine.compose import Service, setting_name

LOOPBACK = "127.0.0.1"

# The variables that the image keeps for its own scripts.
FOR_SCRIPTS = frozenset(
    {
        "KAFKA_VERSION",
        "KAFKA_HEAP_OPTS",
        "KAFKA_LOG4J_OPTS",
        "KAFKA_OPTS",
        "KAFKA_JMX_OPTS",
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "KAFKA_GC_LOG_OPTS",
        "KAFKA_LOG4J_ROOT_LOGLEVEL",
        "KAFKA_LOG4J_LOGGERS",
        "KAFKA_TOOLS_LOG4J_LOGLEVEL",
    }
)
BLANK = " \t\f"
ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
# `NAME://:port` and `NAME://0.0.0.0:port`: every address of the container.
ANY_ADDRESS = re.compile(r"(?<=://)(?:0\.0\.0\.0)?:(\d+)")


def translate(environment: Mapping[str, str]) -> dict[str, str]:
    """The properties that the official image makes of this environment."""
    return {
        setting_name(variable): value
        for variable, value in environment.items()
        if variable.startswith("KAFKA_") and variable not in FOR_SCRIPTS
    }


def localise(
    properties: Mapping[str, str],
    service: Service,
    names: frozenset[str],
    port: Callable[[str, int], int],
    bind: Callable[[str, int], int],
    folder: Callable[[str], str],
) -> dict[str, str]:
    """The same properties for a process of this machine.

    `names` are the services of the cluster, `port(service, port)` is where others reach a port of
    a container here, `bind` where the node itself listens, and `folder` maps a path of the
    container.
    """
    any_name = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    host = re.compile(rf"(?<![\w.-])({any_name}):(\d+)(?!\w)")

    def local(name: str, value: str) -> str:
        place = bind if name == "listeners" else port
        value = host.sub(lambda found: f"{LOOPBACK}:{place(found[1], int(found[2]))}", value)
        return ANY_ADDRESS.sub(
            lambda found: f"{LOOPBACK}:{place(service.name, int(found[1]))}", value
        )

    result = {name: folder(local(name, value)) for name, value in properties.items()}
    result["log.dirs"] = ",".join(folder(path) for path in service.log_dirs)
    return result


def advertise_all(properties: Mapping[str, str], service: Service) -> dict[str, str]:
    """The same properties, with an advertised address for each listener.

    Without one, a controller names the address that it listens at, which others must not use
    where something stands before it.
    """
    told = properties.get("advertised.listeners", "")
    named = {entry.partition("://")[0] for entry in told.split(",")}
    missing = [
        f"{entry.partition('://')[0]}://{service.name}:{entry.rpartition(':')[2]}"
        for entry in properties["listeners"].split(",")
        if entry.partition("://")[0] not in named
    ]
    return {**properties, "advertised.listeners": ",".join([told, *missing]).strip(",")}


def write(properties: Mapping[str, str]) -> str:
    """The text of a properties file. Java reads it as Latin-1 with escapes."""
    return "".join(f"{name}={_escape(value)}\n" for name, value in sorted(properties.items()))


def _escape(value: str) -> str:
    text = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    if text.startswith((" ", "\t", "\f")):
        text = "\\" + text
    return "".join(c if c.isascii() else "".join(_units(c)) for c in text)


def _units(character: str) -> list[str]:
    units = character.encode("utf-16-be").hex()
    return [f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4)]


def read(text: str) -> dict[str, str]:
    """The entries of a properties file that `write` or Kafka made."""
    lines = (line.lstrip(BLANK) for line in text.replace("\r", "").split("\n"))
    entries = (line.partition("=") for line in lines if line and line[0] not in "#!")
    return {_plain(name.rstrip(BLANK)): _plain(value.lstrip(BLANK)) for name, _, value in entries}


def _plain(text: str) -> str:
    plain = ESCAPED.sub(lambda found: _meant(found[1]), text)
    # A letter beyond the first 65,536 was written as two.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _meant(escaped: str) -> str:
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}.get(escaped, escaped)
