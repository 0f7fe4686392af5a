"""What a child process gets of the surroundings: which variables of the shell pass, and why not.

A learner's shell may hold settings for another Java, Kafka, Spark, Python, Docker or Postgres. They
are not meant for what the course starts, and change how it runs. Every child gets its environment
here:

    for_python()      a program of ours in Python; also what all others begin with
    for_java()        a broker, a tool, a JVM that fetches or records
    for_spark(…)      the Java process behind a Spark session
    for_docker(…)     a call of the docker command
    for_jupyterlab()  JupyterLab, and the kernels below it

`clear` and `clear_of_spark` do the same for the process that is running: `./course` has kernels
below it that others start, and PySpark looks at the variables of its own kernel.
"""

from __future__ import annotations

import ctypes
import functools
import locale
import os
import sys
import urllib.request
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

SPARK_MASTER = "KAFKALAB_SPARK_MASTER"

# Options that every JVM takes up, whoever starts it: another collector, an agent, a class path.
OF_JAVA = (
    *("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"),
    *("IBM_JAVA_OPTIONS", "OPENJ9_JAVA_OPTIONS"),
)
# Kafka's scripts and its image read these. Ours begin with KAFKALAB_.
OF_KAFKA = ("KAFKA_*",)
# These put Spark Connect in the place of a session that can read a topic, wherever it works.
OF_SPARK_CONNECT = (
    *("SPARK_REMOTE", "SPARK_CONNECT_*", "SPARK_API_MODE", "SPARK_LOCAL_REMOTE"),
    *("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_*"),
)
# Settings of another Spark. A learner who names a cluster of their own needs them for it.
OF_SPARK = ("SPARK_*", "PYSPARK_*", "_PYSPARK_*", "HADOOP_*", "YARN_*")
# Modules, start-up code and switches for other programs: PYTHONOPTIMIZE takes every `assert` away,
# PYTHONSTARTUP runs in each kernel. Kept is what changes nothing that a program does.
OF_PYTHON = ("PYTHON*",)
HARMLESS_OF_PYTHON = (
    *("PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONUNBUFFERED"),
    *("PYTHONHASHSEED", "PYTHONFAULTHANDLER", "PYTHONNOUSERSITE"),
)
# They turn a call of Docker Compose into another, or ask for images of another kind of machine.
# How to reach the engine (DOCKER_HOST and its kind) is the learner's choice, and passes.
OF_DOCKER = ("COMPOSE_*", "DOCKER_DEFAULT_PLATFORM")
# Which server a client asks, as whom and how, and where a server's data lies.
OF_POSTGRES = ("PG*",)
# A window for charts, where a notebook shows them in its page.
OF_MATPLOTLIB = ("MPLBACKEND",)

# By these the docker command finds its engine.
ENGINE_OF_DOCKER = (
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_API_VERSION"),
    *("DOCKER_TLS", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"),
)
# Java reads its language, and how letters in paths are written, from these.
OF_LANGUAGE = ("LANG", "LANGUAGE", "LC_*")
UTF8_LOCALES = ("C.UTF-8", "en_US.UTF-8")


def spark_works_here() -> bool:
    """Whether Spark works on this machine: KAFKALAB_SPARK_MASTER names no cluster."""
    return (os.environ.get(SPARK_MASTER) or "local").startswith("local")


def for_python(surroundings: Mapping[str, str] | None = None) -> dict[str, str]:
    """Everything but what is foreign; text is UTF-8 whatever the machine's locale.

    surroundings: in the place of those of this process.
    """
    given = os.environ if surroundings is None else surroundings
    return _without_foreign(given) | {"PYTHONUTF8": "1"}


def for_java(surroundings: Mapping[str, str] | None = None) -> dict[str, str]:
    """The same, and a locale in which Java can open paths with any letters.

    Java takes the letters of paths from the locale alone, and no option changes that. Where the
    system has no locale with UTF-8, Java keeps the one that it has: see `java_cannot_read`.
    """
    kept = for_python(surroundings)
    if chosen := utf8_locale():
        kept = {name: value for name, value in kept.items() if not _among(name, OF_LANGUAGE)}
        kept["LC_ALL"] = chosen
    return kept


def for_spark(surroundings: Mapping[str, str] | None = None) -> dict[str, str]:
    """That of Java, and where the notebook finds its modules: functions of it run in Spark."""
    kept = for_java(surroundings)
    given = os.environ if surroundings is None else surroundings
    if path := given.get("PYTHONPATH"):
        kept["PYTHONPATH"] = path
    return kept


def for_docker(variables: Mapping[str, object]) -> dict[str, str]:
    """For the docker command, with the variables of docker-compose.yml."""
    return for_python() | {name: str(value) for name, value in variables.items()}


def for_jupyterlab() -> dict[str, str]:
    """For JupyterLab, which does not start where a proxy is none that it knows.

    An address without a scheme gets the one that every other program takes it for. JupyterLab
    talks to nobody outside, so a proxy of another kind is left out.
    """
    kept = for_python()
    for name in [name for name in kept if name.lower().endswith("_proxy")]:
        if name.lower() == "no_proxy" or not kept[name]:
            continue
        kept[name] = with_scheme(kept[name])
        if urlsplit(kept[name]).scheme not in ("http", "https"):
            del kept[name]
    return kept


def of_docker_engine() -> dict[str, str]:
    """What a process with another home needs to find the same Docker engine as this one.

    Contexts and plug-ins of the docker command lie in a folder of the home unless it is named.
    """
    found = {name: os.environ[name] for name in ENGINE_OF_DOCKER if name in os.environ}
    usual = Path.home() / ".docker"
    if usual.is_dir():
        found.setdefault("DOCKER_CONFIG", str(usual))
    return found


def clear() -> None:
    """Take what is foreign out of the variables of this process; `taken_out` keeps it."""
    kept = _without_foreign(os.environ)
    taken_out.update({name: v for name, v in os.environ.items() if name not in kept})
    _keep_only(kept)


def clear_for_jupyterlab() -> None:
    """The same for a process that becomes JupyterLab: see `for_jupyterlab`."""
    kept = for_jupyterlab()
    _keep_only(kept)
    os.environ.update(kept)


taken_out: dict[str, str] = {}
"""What `clear` took out of the variables of this process, for who wants to tell of it."""


def foreign(surroundings: Mapping[str, str]) -> dict[str, str]:
    """Name of each variable that no child gets -> the program that it was meant for."""
    return {
        name: program
        for name in surroundings
        for program, patterns in _foreign().items()
        if _among(name, patterns) and name not in HARMLESS_OF_PYTHON
    }


def clear_of_spark() -> None:
    """The same for what PySpark would take up. A notebook may have modules and other tools."""
    patterns = _of_spark()
    _keep_only({name: v for name, v in os.environ.items() if not _among(name, patterns)})


def proxies() -> dict[str, str]:
    """Scheme -> the proxy for it that the surroundings name; `all` is for every scheme."""
    named = {scheme: with_scheme(a) for scheme, a in urllib.request.getproxies().items()}
    return {
        scheme: address
        for scheme, address in named.items()
        if scheme in ("http", "https", "all") and urlsplit(address).hostname
    }


def with_scheme(proxy: str) -> str:
    """`proxy:3128` is taken for `http://proxy:3128`."""
    return proxy if "://" in proxy else f"http://{proxy.lstrip('/')}"


def java_cannot_read(path: Path) -> str:
    """Why a JVM of `for_java` cannot open this path; nothing where it can."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return "The path is no text in UTF-8."
    if str(path).isascii() or sys.platform == "darwin" or utf8_locale():
        return ""
    return (
        "The path has letters beyond ASCII, and this system has no locale with UTF-8, without "
        "which Java cannot read them."
    )


@functools.cache
def utf8_locale() -> str | None:
    """A locale of this system with UTF-8 and, where there is a choice, no language of its own."""
    own = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    for name in (*UTF8_LOCALES, own):
        if name.lower().partition(".")[2].replace("-", "") == "utf8" and _has_locale(name):
            return name
    return None


def _has_locale(name: str) -> bool:
    # `locale.setlocale` would change the whole process, if only for a moment.
    if sys.platform != "linux":
        return name == "en_US.UTF-8"
    library = ctypes.CDLL(None)
    library.newlocale.restype = ctypes.c_void_p
    library.newlocale.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p]
    library.freelocale.argtypes = [ctypes.c_void_p]
    found = library.newlocale(1 << locale.LC_CTYPE, name.encode(), None)
    if found:
        library.freelocale(found)
    return bool(found)


def _without_foreign(surroundings: Mapping[str, str]) -> dict[str, str]:
    left_out = foreign(surroundings)
    return {name: value for name, value in surroundings.items() if name not in left_out}


def _foreign() -> dict[str, tuple[str, ...]]:
    return {
        "Java": OF_JAVA,
        "Kafka": OF_KAFKA,
        "Spark": _of_spark(),
        "Python": OF_PYTHON,
        "Docker": OF_DOCKER,
        "PostgreSQL": OF_POSTGRES,
        "Matplotlib": OF_MATPLOTLIB,
    }


def _of_spark() -> tuple[str, ...]:
    return (*OF_SPARK_CONNECT, *OF_SPARK) if spark_works_here() else OF_SPARK_CONNECT


def _keep_only(kept: Mapping[str, str]) -> None:
    for name in [name for name in os.environ if name not in kept]:
        del os.environ[name]


def _among(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
