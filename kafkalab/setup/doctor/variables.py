"""Variables of other programs that reach into Java, Spark, Docker and what speaks to the network.

Standard library alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from kafkalab import environment
from kafkalab.setup.doctor.diagnosis import Diagnosis

PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY")
SCHEMES = ("http", "https")


def variables(surroundings: Mapping[str, str] | None = None) -> Diagnosis:
    """Whether one is set that was meant for another program, or a proxy that not all can use.

    surroundings: in the place of those in which `./course` was called.
    """
    given = os.environ | environment.taken_out if surroundings is None else surroundings
    named = [*_foreign(given), *_odd_proxies(given)]
    if not named:
        return Diagnosis("variables", "good", "none of another Java, Spark or Docker; no odd proxy")
    return Diagnosis(
        "variables",
        "note",
        "; ".join(f"{name}={value}, {what}" for name, value, what in named),
        "They were set for another program. What the course starts gets none of them; of proxies "
        "it gets those that it can use. What you start without ./course gets them all.",
        "In the shell: unset " + " ".join(name for name, _, _ in named),
    )


def _foreign(surroundings: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, program in environment.foreign(surroundings).items():
        yield name, surroundings[name], f"of {program}"


def _odd_proxies(surroundings: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name in (*PROXIES, *map(str.lower, PROXIES)):
        value = surroundings.get(name, "")
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
